package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence"
)

var (
	countFlag = flag.Int("crash.count", 50, "how many times a process is killed")
	seedFlag  = flag.Uint64("crash.seed", 0, "the seed of the plan; 0 draws one")
)

// killsPerDir is how many kills one data directory lives through.
const killsPerDir = 25

// TestCrash kills processes. See the package comment.
func TestCrash(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		*countFlag = min(*countFlag, 10)
	}
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	begun := time.Now()
	var total tally
	for done := 0; done < *countFlag; done += killsPerDir {
		d := &directory{path: keptDir(t), model: newModel(), rng: rng}
		for life := range min(killsPerDir, *countFlag-done) {
			if err := d.live(t.Context(), life); err != nil {
				t.Fatalf("kill %d of seed %d, in %s, which is kept: %v\nlast acks:\n%s", done+life+1, seed, d.path, err, d.tail())
			}
		}
		total.add(d.tally)
		if err := os.RemoveAll(d.path); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d kills in %v: %+v", *countFlag, time.Since(begun).Round(time.Second), total)
}

// keptDir makes a directory that stays when the test fails, for those who look for the cause.
func keptDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agentd-crash-") //nolint:usetesting // It is kept on failure.
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// tally says what the kills hit, so that a run that hits nothing is seen.
type tally struct {
	Kills, BeforeReady, Acks, Turns, Interrupted, Calls, Deleted, Restarts int
}

func (t *tally) add(o tally) {
	t.Kills += o.Kills
	t.BeforeReady += o.BeforeReady
	t.Acks += o.Acks
	t.Turns += o.Turns
	t.Interrupted += o.Interrupted
	t.Calls += o.Calls
	t.Deleted += o.Deleted
	t.Restarts += o.Restarts
}

// directory is one data directory and what it has to hold.
type directory struct {
	path  string
	model *model
	rng   *rand.Rand
	log   []ack
	tally tally
	// checks counts the turns that the parent made.
	checks int
}

// live lets one child work, kills it, and checks what it left.
func (d *directory) live(ctx context.Context, life int) error {
	if err := d.run(ctx, life); err != nil {
		return err
	}
	if len(d.model.faults) > 0 {
		return fmt.Errorf("the child met with %v", d.model.faults)
	}
	if err := d.inspect(); err != nil {
		return err
	}
	return d.atRest()
}

// run starts a child and kills it at a random moment: a part of them while they start, before they are ready.
func (d *directory) run(ctx context.Context, life int) error {
	order, err := json.Marshal(orders{Dir: d.path, Seed: d.rng.Uint64(), Life: life})
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), childEnv+"="+string(order))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	early := d.rng.IntN(5) == 0
	pause := time.Duration(d.rng.IntN(250_000)) * time.Microsecond
	if early {
		pause /= 5
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	kill := func() { _ = cmd.Process.Kill() } // It fails only for a child that has ended, which is noticed below.
	if early {
		time.AfterFunc(pause, kill)
	}
	ready := false
	err = readAcks(out, func(a ack) {
		if a.Kind == ackReady && !ready && !early {
			time.AfterFunc(pause, kill)
		}
		ready = ready || a.Kind == ackReady
		d.count(a)
		d.model.take(a)
	})
	waited := cmd.Wait()
	d.tally.Kills++
	if !ready {
		d.tally.BeforeReady++
	}
	if cmd.ProcessState.Exited() {
		return fmt.Errorf("the child ended by itself: %w, %v: %s", waited, d.model.faults, stderr.String())
	}
	return err
}

func (d *directory) count(a ack) {
	d.log = append(d.log, a)
	d.tally.Acks++
	switch a.Kind {
	case ackTurnStarted:
		d.tally.Turns++
	case ackCallReturned:
		d.tally.Calls++
	case ackDeleted:
		d.tally.Deleted++
	case ackStopped:
		d.tally.Restarts++
	}
}

// tail is the last of what the children told.
func (d *directory) tail() string {
	var text strings.Builder
	for _, a := range d.log[max(0, len(d.log)-60):] {
		fmt.Fprintf(&text, "%+v\n", a)
	}
	return text.String()
}

// inspect opens the directory, compares everything, lets some sessions take a new turn, and stops cleanly.
func (d *directory) inspect() (err error) {
	rt, err := openRuntime(d.path, d.rng.Uint64(), &teller{out: discard{}})
	if err != nil {
		return fmt.Errorf("opening after the kill: %w", err)
	}
	defer func() {
		if stopped := rt.Stop(context.Background()); stopped != nil {
			err = errors.Join(err, fmt.Errorf("stopping after the kill: %w", stopped))
		}
	}()
	listing, err := rt.ListSessions(context.Background())
	if err != nil || len(listing.Bad) > 0 {
		return fmt.Errorf("listing: %w; bad are %v", err, listing.Bad)
	}
	for _, head := range listing.Sessions {
		if d.model.sessions[head.ID] == nil {
			return fmt.Errorf("session %q is there, and nobody asked for it", head.ID)
		}
	}
	calls := map[messages.CallID]messages.Item{}
	for _, id := range d.model.ids() {
		if err := d.inspectSession(rt, d.model.sessions[id], calls); err != nil {
			return fmt.Errorf("session %q: %w", id, err)
		}
	}
	runs, err := newCounter(d.path).runs()
	if err != nil {
		return err
	}
	return checkRuns(runs, d.model.calls, calls, d.gone)
}

// inspectSession wakes a session, so that a turn which the kill interrupted is ended, and checks it.
func (d *directory) inspectSession(rt *actors.Runtime, s *sessionModel, calls map[messages.CallID]messages.Item) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	sub, err := rt.Subscribe(ctx, s.id, actors.SubscribeOptions{Live: true})
	absent := errors.Is(err, persistence.ErrNotFound) || errors.Is(err, persistence.ErrDeleted)
	switch {
	case absent && s.created && !s.deleting && !s.deleted:
		return fmt.Errorf("it was acknowledged: %w", err)
	case absent:
		s.deleted = true // Whatever was under way: from now on it stays gone.
		return nil
	case err != nil:
		return err
	case s.deleted:
		return errors.New("it was deleted and is there")
	}
	defer sub.Close()
	view, err := settled(ctx, rt, s.id)
	if err != nil {
		return err
	}
	if view.Head.Turn != nil && view.Head.Turn.Status == messages.TurnInterrupted {
		d.tally.Interrupted++
	}
	if err := s.check(view.Head, view.Items); err != nil {
		return err
	}
	for _, item := range view.Items {
		if item.Type == messages.ItemToolCall {
			calls[item.CallID] = *item
		}
	}
	if d.rng.IntN(4) > 0 {
		return nil
	}
	return d.useAgain(ctx, rt, s)
}

// settled reads a session once the turn that the kill interrupted has been ended.
func settled(ctx context.Context, rt *actors.Runtime, id messages.SessionID) (actors.SessionView, error) {
	for {
		view, err := rt.Session(ctx, id)
		if err != nil || view.Head.Status == messages.SessionIdle {
			return view, err
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return view, fmt.Errorf("the session stays %s", view.Head.Status)
		}
	}
}

// useAgain runs a turn in a session, and takes it over as seen.
func (d *directory) useAgain(ctx context.Context, rt *actors.Runtime, s *sessionModel) error {
	d.checks++
	id := messages.TurnID(fmt.Sprintf("turn-check-%d", d.checks))
	input := plan{Number: d.checks, Steps: []string{"item"}, End: "finish"}.String()
	handle, err := rt.RunTurn(ctx, s.id, input, actors.RunOptions{TurnID: id})
	if err != nil {
		return fmt.Errorf("a new turn: %w", err)
	}
	turn, err := handle.Wait(ctx)
	if err != nil || turn.Status != messages.TurnCompleted {
		return fmt.Errorf("a new turn %s: %w: %s", turn.Status, err, turn.Error)
	}
	s.turns = append(s.turns, &turnModel{id: id, input: input, started: true, ended: messages.TurnCompleted})
	view, err := rt.Session(ctx, s.id)
	if err != nil {
		return err
	}
	return s.check(view.Head, view.Items)
}

// gone reports whether the session that made a call was deleted.
func (d *directory) gone(id messages.CallID) bool {
	for _, a := range d.log {
		if a.Kind == ackTurnAsked && a.Turn == turnOf(id) {
			return d.model.sessions[a.Session].deleted
		}
	}
	return false
}

// atRest reads the files of a runtime that was stopped, with nothing but a JSON parser.
func (d *directory) atRest() error {
	root := filepath.Join(d.path, "data", "agent-sessions")
	for _, folder := range []string{"journal", "tmp"} {
		left, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil || len(left) > 0 {
			return fmt.Errorf("after a clean stop the folder %s holds %v, %w", folder, left, err)
		}
	}
	for _, s := range d.model.sessions {
		text, err := os.ReadFile(filepath.Join(root, string(s.id)+".json"))
		if s.deleted {
			if !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("session %q was deleted, and its file is there: %w", s.id, err)
			}
			continue
		}
		if err != nil {
			return err
		}
		var file struct {
			messages.Head
			Items []*messages.Item `json:"items"`
		}
		if err := json.Unmarshal(text, &file); err != nil {
			return fmt.Errorf("the file of session %q: %w", s.id, err)
		}
		if err := s.check(file.Head, file.Items); err != nil {
			return fmt.Errorf("the file of session %q: %w", s.id, err)
		}
	}
	return nil
}

// discard is where the parent's own agent tells what was acknowledged.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
