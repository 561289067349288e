package mcp

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"agentd/messages"
	"agentd/presets"
)

// The full count is 100,000: go test -run TestSchedules -schedules 100000 -timeout 2h.
var (
	schedules    = flag.Int("schedules", 300, "how many random schedules TestSchedules runs")
	scheduleSeed = flag.Uint64("schedule-seed", 0, "runs one schedule of TestSchedules, by the seed that a failure printed")
)

// TestSchedules runs random schedules of changes of presets, policies, approvals, revocations, turns and calls through a real client, and holds
// each list and each run against a model: no unapproved risky tool is ever listed or run, and what is approved is.
func TestSchedules(t *testing.T) {
	if *scheduleSeed != 0 {
		newScheduler(t, exposureOf(*scheduleSeed)).run(*scheduleSeed)
		return
	}
	const workers = 2
	total := newTally()
	t.Run("all", func(t *testing.T) {
		for worker := range workers {
			t.Run(fmt.Sprint("worker ", worker), func(t *testing.T) {
				t.Parallel()
				both := map[presets.Exposure]*scheduler{presets.Hidden: newScheduler(t, presets.Hidden), presets.Gated: newScheduler(t, presets.Gated)}
				first := rand.Uint64()
				for i := range uint64(*schedules / workers) {
					seed := first + i
					both[exposureOf(seed)].run(seed)
					if t.Failed() {
						t.Fatalf("the schedule of seed %d failed: run it with -schedule-seed %d", seed, seed)
					}
				}
				for _, s := range both {
					total.add(s.tally)
				}
				t.Logf("seeds from %d", first)
			})
		}
	})
	t.Logf("%d schedules: %v", *schedules, total.counts)
	if t.Failed() || *schedules < 200 {
		return
	}
	events := []string{"listed", "hidden", "ran", "refused", "waited", "approved once", "approved always", "denied", "cancelled"}
	if *schedules >= 5000 { // These are rare.
		events = append(events, "revoked", "turned off while it waited")
	}
	for _, what := range events {
		if total.counts[what] == 0 {
			t.Errorf("it never came about: %s", what)
		}
	}
}

func exposureOf(seed uint64) presets.Exposure {
	if seed%2 == 0 {
		return presets.Hidden
	}
	return presets.Gated
}

// tally counts what came about, so that the test is seen to test something.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func newTally() *tally { return &tally{counts: make(map[string]int)} }

func (c *tally) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

func (c *tally) add(other *tally) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for what, n := range other.counts {
		c.counts[what] += n
	}
}

// riskyTool is a tool of the schedules and the preset and the risk that it has.
type riskyTool struct {
	name, id, preset string
	risk             messages.Risk
}

func riskyTools() []riskyTool {
	return []riskyTool{
		{"space_run", "shell.run", "shell", messages.RiskShell},
		{"space_write", "files.write", "files", messages.RiskFilesystemWrite},
	}
}

// exactCall is one call of one tool.
type exactCall struct {
	tool riskyTool
	arg  int
}

func (c exactCall) arguments() map[string]any { return map[string]any{"arg": c.arg} }

// waitingCall is a call that waits for a person.
type waitingCall struct {
	call    exactCall
	request messages.RequestID
	cancel  context.CancelFunc
	done    chan bool // whether it came to an error
}

// scheduler runs schedules on one world with one client, and keeps the model beside.
type scheduler struct {
	t      *testing.T
	w      *world
	client *testClient
	tools  *ToolServer
	tally  *tally
	random *rand.Rand

	// The model: what a person has decided so far.
	off     map[string]bool // presets that are turned off
	rules   map[messages.Risk]presets.Rule
	granted map[exactCall]bool // always
	once    map[exactCall]int  // once, not used yet
	faults  []string
	waiting []*waitingCall
}

func newScheduler(t *testing.T, exposure presets.Exposure) *scheduler {
	t.Helper()
	s := &scheduler{t: t, w: newWorld(t, exposure), tally: newTally()}
	s.w.adapter("files.write", "space_write", messages.RiskFilesystemWrite, func(context.Context, string) (presets.Result, error) {
		return presets.Text("written"), nil
	})
	s.w.preset("files", messages.RiskFilesystemWrite, "files.write")
	s.client, s.tools = overStdio(t, s.w, []string{"2026-07-28", "2025-11-25"}[rand.IntN(2)], nil, nil)
	return s
}

// run runs one schedule.
func (s *scheduler) run(seed uint64) {
	s.random = rand.New(rand.NewPCG(seed, 1))
	s.off, s.rules = map[string]bool{}, map[messages.Risk]presets.Rule{}
	s.granted, s.once = map[exactCall]bool{}, map[exactCall]int{}
	s.w.approvals.reset()
	for _, preset := range []string{"shell", "files"} {
		s.setPreset(preset, presets.OverrideAuto)
	}
	steps := []func(){s.list, s.list, s.call, s.call, s.call, s.decide, s.decide, s.decide, s.switchPreset, s.setRule, s.revoke, s.cancel, s.rebind, s.askAhead, s.sync}
	for range 4 + s.random.IntN(12) {
		steps[s.random.IntN(len(steps))]()
	}
	s.list()
	s.rebind() // Ends what still waits.
	for _, fault := range s.faults {
		s.t.Errorf("seed %d: %s", seed, fault)
	}
}

func (s *scheduler) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

func (s *scheduler) pick() exactCall {
	tools := riskyTools()
	return exactCall{tools[s.random.IntN(len(tools))], s.random.IntN(2)}
}

func (s *scheduler) rule(risk messages.Risk) presets.Rule {
	if rule, set := s.rules[risk]; set {
		return rule
	}
	return presets.RuleAsk
}

// mayList is the model of a list.
func (s *scheduler) mayList(tool riskyTool) bool {
	switch {
	case s.off[tool.preset]:
		return false
	case s.w.surface.Exposure() == presets.Gated:
		return s.rule(tool.risk) != presets.RuleDeny
	case s.rule(tool.risk) == presets.RuleAsk:
		return slices.ContainsFunc([]exactCall{{tool, 0}, {tool, 1}}, func(call exactCall) bool { return s.granted[call] || s.once[call] > 0 })
	}
	return s.rule(tool.risk) == presets.RuleAuto
}

func (s *scheduler) list() {
	names := s.client.names()
	for _, tool := range riskyTools() {
		got, want := slices.Contains(names, tool.name), s.mayList(tool)
		if got != want {
			s.fault("%s is listed: %t, want %t", tool.name, got, want)
		}
		s.tally.note(map[bool]string{true: "listed", false: "hidden"}[got])
	}
}

// settleRuns holds what ran against the model. Nothing runs while it is called.
func (s *scheduler) settleRuns() {
	s.w.mu.Lock()
	ran := s.w.ran
	s.w.ran, s.w.steps = nil, nil
	s.w.mu.Unlock()
	for _, run := range ran {
		call, ok := parseRun(run)
		if !ok {
			continue
		}
		s.tally.note("ran")
		switch {
		case s.off[call.tool.preset]:
			s.fault("%v ran although its preset is off", run)
		case s.rule(call.tool.risk) == presets.RuleDeny:
			s.fault("%v ran although the policy denies it", run)
		case s.rule(call.tool.risk) == presets.RuleAuto, s.granted[call]:
		case s.once[call] > 0:
			s.once[call]--
		default:
			s.fault("%v ran unapproved", run)
		}
	}
}

func parseRun(run string) (exactCall, bool) {
	for _, tool := range riskyTools() {
		var in struct {
			Arg int `json:"arg"`
		}
		if len(run) > len(tool.name) && run[:len(tool.name)] == tool.name && json.Unmarshal([]byte(run[len(tool.name):]), &in) == nil {
			return exactCall{tool, in.Arg}, true
		}
	}
	return exactCall{}, false
}

// call makes a call and waits until it has ended or waits for a person.
func (s *scheduler) call() {
	call := s.pick()
	ctx, cancel := context.WithCancel(context.Background())
	w := &waitingCall{call: call, cancel: cancel, done: make(chan bool, 1)}
	go func() {
		result, err := s.client.call(ctx, call.tool.name, call.arguments())
		w.done <- err != nil || result.IsError
	}()
	// The model says whether it should run; a use of an approval once is settled with the run.
	approved := !s.off[call.tool.preset] && (s.rule(call.tool.risk) == presets.RuleAuto ||
		s.rule(call.tool.risk) == presets.RuleAsk && (s.granted[call] || s.once[call] > 0))
	select {
	case refused := <-w.done:
		cancel()
		if refused == approved {
			s.fault("a call of %s %d was refused: %t, although its approval is: %t", call.tool.name, call.arg, refused, approved)
		}
		if refused {
			s.tally.note("refused")
		}
	case request := <-s.w.approvals.asked:
		if approved {
			s.fault("a call of %s %d waits, although it is approved", call.tool.name, call.arg)
		}
		w.request = request.ID
		s.waiting = append(s.waiting, w)
		s.tally.note("waited")
	case <-time.After(patience):
		s.t.Fatal("a call neither ended nor asked")
	}
	s.settleRuns()
}

// decide answers a question. The model knows before the approvals do.
func (s *scheduler) decide() {
	pending, _ := s.w.approvals.Pending(context.Background())
	if len(pending) == 0 {
		return
	}
	slices.SortFunc(pending, func(a, b presets.Request) int { return len(a.ID) - len(b.ID) })
	request := pending[s.random.IntN(len(pending))]
	call := s.callOf(request)
	answer := presets.Answer{Verb: []presets.Verb{presets.ApproveOnce, presets.ApproveAlways, presets.Deny}[s.random.IntN(3)], Who: "ann"}
	switch answer.Verb {
	case presets.ApproveOnce:
		s.once[call]++
		s.tally.note("approved once")
	case presets.ApproveAlways:
		s.granted[call] = true
		s.tally.note("approved always")
	case presets.Deny:
		s.tally.note("denied")
	}
	if err := s.w.approvals.Decide(context.Background(), request.ID, answer); err != nil {
		s.fault("deciding: %v", err)
	}
	ended := 0
	s.waiting = slices.DeleteFunc(s.waiting, func(w *waitingCall) bool {
		if w.request != request.ID {
			return false
		}
		<-w.done
		w.cancel()
		ended++
		return true
	})
	off := s.off[call.tool.preset]
	s.settleRuns()
	if off && ended > 0 && answer.Verb != presets.Deny {
		s.tally.note("turned off while it waited")
		if answer.Verb == presets.ApproveOnce {
			s.once[call]-- // It was used on a call that did not run.
		}
	} else if answer.Verb == presets.ApproveOnce && ended > 0 && s.once[call] > 0 && s.rule(call.tool.risk) == presets.RuleDeny {
		s.once[call]--
	}
}

func (s *scheduler) callOf(request presets.Request) exactCall {
	for _, tool := range riskyTools() {
		for arg := range 2 {
			text, err := json.Marshal(exactCall{tool, arg}.arguments())
			if err != nil {
				s.t.Fatal(err)
			}
			canonical, err := messages.CanonicalArguments(text)
			if err != nil {
				s.t.Fatal(err)
			}
			if messages.Fingerprint(tool.id, canonical) == request.Fingerprint {
				return exactCall{tool, arg}
			}
		}
	}
	s.t.Fatalf("a request for an unknown call: %+v", request)
	return exactCall{}
}

func (s *scheduler) setPreset(preset string, override presets.Override) {
	if err := s.w.manager.SetOverride(context.Background(), testSession, preset, override); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scheduler) switchPreset() {
	preset := riskyTools()[s.random.IntN(2)].preset
	s.off[preset] = !s.off[preset]
	s.setPreset(preset, map[bool]presets.Override{true: presets.OverrideOff, false: presets.OverrideOn}[s.off[preset]])
}

// setRule changes the policy while nobody waits: the fake approvals do not answer those who do.
func (s *scheduler) setRule() {
	if len(s.waiting) > 0 {
		return
	}
	risk := riskyTools()[s.random.IntN(2)].risk
	s.rules[risk] = []presets.Rule{presets.RuleAsk, presets.RuleAsk, presets.RuleAuto, presets.RuleDeny}[s.random.IntN(4)]
	s.w.approvals.setPolicy(risk, s.rules[risk])
}

func (s *scheduler) revoke() {
	grants, _ := s.w.approvals.Grants(context.Background())
	if len(grants) == 0 {
		return
	}
	grant := grants[s.random.IntN(len(grants))]
	if err := s.w.approvals.Revoke(context.Background(), grant.ID); err != nil {
		s.fault("revoking: %v", err)
	}
	delete(s.granted, s.callOf(presets.Request{Fingerprint: grant.Fingerprint}))
	s.tally.note("revoked")
}

// cancel lets the caller of a waiting call go.
func (s *scheduler) cancel() {
	if len(s.waiting) == 0 {
		return
	}
	i := s.random.IntN(len(s.waiting))
	w := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	w.cancel()
	<-w.done
	s.awaitLeft()
	s.settleRuns()
	s.tally.note("cancelled")
}

// rebind begins another turn, which ends the calls of the last one.
func (s *scheduler) rebind() {
	previous := s.tools.bound.Load()
	if _, err := s.tools.Bind(s.w.turn()); err != nil {
		s.t.Fatal(err)
	}
	for _, w := range s.waiting {
		<-w.done
		w.cancel()
	}
	s.waiting = nil
	<-previous.Done()
	s.settleRuns()
}

// awaitLeft waits until as many wait at the approvals as the model knows.
func (s *scheduler) awaitLeft() {
	eventually(s.t, "a waiter leaves", func() bool {
		s.w.approvals.mu.Lock()
		defer s.w.approvals.mu.Unlock()
		n := 0
		for _, q := range s.w.approvals.pending {
			n += len(q.waiting)
		}
		return n == len(s.waiting)
	})
}

// askAhead asks for a later call with the request tool.
func (s *scheduler) askAhead() {
	call := s.pick()
	_, err := s.client.call(context.Background(), presets.RequestToolName, map[string]any{"tool": call.tool.name, "arguments": call.arguments()})
	if err != nil {
		s.fault("asking ahead: %v", err)
	}
	for len(s.w.approvals.asked) > 0 {
		<-s.w.approvals.asked
	}
	s.settleRuns()
}

func (s *scheduler) sync() {
	if err := s.tools.Sync(context.Background()); err != nil {
		s.fault("syncing: %v", err)
	}
}
