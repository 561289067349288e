package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence/memory"
	"agentd/presets"
)

// stage is where a scenario is played: a runtime, and what outlives it.
type stage struct {
	t       *testing.T
	disk    *FaultyStore
	life    *CrashStore
	runtime *Runtime

	mu      sync.Mutex
	scripts Scripts
	gates   map[string]*Gate
	// told is what came of the requests that run in the background, since it was last printed.
	told  []string
	turns int
	subs  map[string]*actors.Subscription
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{
		t: t, disk: NewFaultyStore(memory.New()), scripts: Scripts{}, gates: map[string]*Gate{}, subs: map[string]*actors.Subscription{},
	}
	s.restart()
	return s
}

// restart starts a runtime on what is stored.
func (s *stage) restart() {
	life := NewCrashStore(s.disk)
	manager, err := scenarioPresets()
	if err != nil {
		s.t.Fatal(err)
	}
	s.life = life
	s.runtime = NewRuntime(s.t, &Options{
		Store: life, Presets: manager, Actors: actors.Options{Exposure: presets.Gated},
		Agents: map[messages.AgentID]actors.Agent{"scripted": actors.AgentFunc(s.run)},
	})
	s.t.Cleanup(func() {
		life.Bury()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, gate := range s.gates {
			gate.Open()
		}
	})
}

// run is the agent of a scenario.
func (s *stage) run(ctx context.Context, turn *actors.TurnContext) error {
	s.mu.Lock()
	script, known := s.scripts[turn.Input]
	s.mu.Unlock()
	if !known {
		return turn.Turn.Finish("")
	}
	return script.Run(ctx, turn)
}

// scenarioPresets offers the two tools of scenarios.
func scenarioPresets() (*presets.Manager, error) {
	manager, err := presets.NewManager(nil)
	if err != nil {
		return nil, err
	}
	for name, risk := range map[string]messages.Risk{"space_echo": messages.RiskNormal, "space_danger": messages.RiskShell} {
		err = errors.Join(err, manager.RegisterAdapter(presets.Adapter{
			ID: name, Name: name, Description: "Answers with its arguments.", InputSchema: json.RawMessage(`{"type":"object"}`),
			Make: func(presets.Env) (presets.RunFunc, error) {
				return func(_ context.Context, arguments json.RawMessage) (presets.Result, error) {
					return presets.Text(string(arguments)), nil
				}, nil
			},
		}), manager.RegisterPreset(presets.Preset{Name: name, Risk: risk, Contexts: []presets.Pattern{{}}, ToolIDs: []string{name}}))
	}
	return manager, err
}

func (s *stage) gate(name string) *Gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gates[name] == nil {
		s.gates[name] = NewGate()
	}
	return s.gates[name]
}

func (s *stage) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, fmt.Sprintf(format, args...))
}

// play does one command, lets everything happen that follows, and returns what is to be shown, with line ends.
func (s *stage) play(b block) string {
	words := strings.Fields(b.command)
	handler, known := stageCommands()[words[0]]
	if !known {
		s.t.Fatalf("line %d: unknown command %q: use one of %v", b.line, words[0], slices.Sorted(maps.Keys(stageCommands())))
	}
	if len(words)-1 < handler.least {
		s.t.Fatalf("line %d: %q needs %d words more", b.line, words[0], handler.least)
	}
	lines := handler.play(s, words[1:], strings.TrimSpace(strings.TrimPrefix(b.command, words[0])))
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.told) // What happened at once has no order.
	lines = append(lines, s.told...)
	s.told = nil
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// stageCommand is a command of scenarios, with how many words it needs.
type stageCommand struct {
	least int
	play  func(s *stage, words []string, rest string) []string
}

func stageCommands() map[string]stageCommand {
	return map[string]stageCommand{
		"script": {1, (*stage).script}, "session": {1, (*stage).session}, "run": {2, (*stage).prompt}, "cancel": {1, (*stage).cancel},
		"open": {1, (*stage).open}, "advance": {1, (*stage).advance}, "turn": {1, (*stage).turn}, "items": {1, (*stage).items},
		"data": {1, (*stage).data}, "list": {0, (*stage).list}, "pending": {0, (*stage).pending}, "set": {3, (*stage).set},
		"watch": {2, (*stage).watch}, "events": {1, (*stage).events}, "decide": {1, (*stage).decide}, "delete": {1, (*stage).remove},
		"flush": {0, (*stage).flush}, "stop": {0, (*stage).stop}, "fail": {3, (*stage).fail}, "heal": {0, (*stage).heal},
		"crash": {0, (*stage).crash}, "restart": {0, (*stage).again},
	}
}

func (s *stage) script(_ []string, rest string) []string {
	input, steps, _ := strings.Cut(rest, ":")
	var script Script
	for text := range strings.SplitSeq(steps, ";") {
		step, err := s.step(strings.TrimSpace(text))
		if err != nil {
			s.t.Fatal(err)
		}
		script = append(script, step)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[strings.TrimSpace(input)] = script
	return nil
}

func (s *stage) session(words []string, _ string) []string {
	_, err := s.runtime.CreateSession(s.runtime.Context(), "scripted", actors.CreateOptions{ID: messages.SessionID(words[0])})
	return outcome(err)
}

// prompt asks for a turn in the background, since it may have to wait.
func (s *stage) prompt(words []string, _ string) []string {
	id, input := messages.SessionID(words[0]), words[1]
	s.turns++
	turn := messages.TurnID("t" + strconv.Itoa(s.turns))
	opts := actors.RunOptions{TurnID: turn}
	if len(words) > 2 {
		opts.OnBusy = messages.OnBusy(words[2])
	}
	rt := s.runtime
	go func() {
		handle, err := rt.RunTurn(rt.tb.Context(), id, input, opts)
		if err != nil {
			s.tell("%s: %v", turn, err)
			return
		}
		handle.OnComplete(func(turn messages.Turn) { s.tell("%s: %s", turn.ID, describeTurn(turn)) })
		handle.OnError(func(turn messages.Turn, _ error) { s.tell("%s: %s", turn.ID, describeTurn(turn)) })
	}()
	return nil
}

func describeTurn(turn messages.Turn) string {
	text := string(turn.Status)
	if detail := turn.Result + turn.Error; detail != "" {
		text += ": " + detail
	}
	return text
}

func (s *stage) cancel(words []string, _ string) []string {
	return outcome(s.runtime.CancelTurn(s.runtime.Context(), messages.SessionID(words[0])))
}

func (s *stage) open(words []string, _ string) []string {
	s.gate(words[0]).Open()
	return nil
}

func (s *stage) advance(words []string, _ string) []string {
	pause, err := time.ParseDuration(words[0])
	if err != nil {
		return outcome(err)
	}
	<-time.After(pause)
	return nil
}

func (s *stage) set(words []string, _ string) []string {
	return outcome(s.runtime.SetData(s.runtime.Context(), messages.SessionID(words[0]), words[1], words[2]))
}

func (s *stage) remove(words []string, _ string) []string {
	return outcome(s.runtime.DeleteSession(s.runtime.Context(), messages.SessionID(words[0])))
}

func (s *stage) flush([]string, string) []string {
	return outcome(s.runtime.Flush(s.runtime.Context()))
}

func (s *stage) stop([]string, string) []string {
	return outcome(s.runtime.Stop(s.runtime.Context()))
}

func (s *stage) fail(words []string, _ string) []string {
	n, err := strconv.Atoi(words[1])
	fault, known := Faults()[words[2]]
	if err != nil || !known {
		return []string{fmt.Sprintf("unknown fault %q, or %v: use one of %v", words[2], err, slices.Sorted(maps.Keys(Faults())))}
	}
	s.disk.Fail(Op(words[0]), n, fault)
	return nil
}

func (s *stage) heal([]string, string) []string {
	s.disk.Heal()
	return nil
}

func (s *stage) crash([]string, string) []string {
	s.life.Kill()
	return nil
}

func (s *stage) again([]string, string) []string {
	s.restart()
	return nil
}

func (s *stage) decide(words []string, _ string) []string {
	open, err := s.runtime.Approvals().Pending(s.runtime.Context())
	if err != nil || len(open) == 0 {
		return outcome(errors.Join(err, errors.New("nothing is open")))
	}
	answer := presets.Answer{Verb: presets.Verb(words[0]), Who: "tester"}
	return outcome(s.runtime.Approvals().Decide(s.runtime.Context(), open[0].ID, answer))
}

// outcome shows an error.
func outcome(err error) []string {
	if err == nil {
		return nil
	}
	return []string{"error: " + err.Error()}
}
