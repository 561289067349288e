package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"agentd/actors"
	"agentd/messages"
	"agentd/presets"
	"agentd/testkit"
)

// TestCallTellsItsRecorder has a recorder that decides when the request is stored, as a client's own person does.
func TestCallTellsItsRecorder(t *testing.T) {
	t.Parallel()
	for _, refuses := range []presets.StepKind{"", presets.StepRequested, presets.StepStarted} {
		t.Run("refusing "+string(refuses), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &toolFixture{running: testkit.NewGate()}
				var mu sync.Mutex
				var told []presets.StepKind
				recorder := presets.RecorderFunc(func(ctx context.Context, step presets.Step) error {
					mu.Lock()
					told = append(told, step.Kind)
					mu.Unlock()
					calls := itemsOf(f.runtime.View(f.id).Items, messages.ItemToolCall)
					if len(calls) != 1 {
						t.Errorf("at %s %d calls are stored, want the one", step.Kind, len(calls))
					}
					switch step.Kind {
					case refuses:
						return errors.New("refused")
					case presets.StepRequested:
						return f.runtime.Approvals().Decide(ctx, step.Request.ID, presets.Answer{Verb: presets.ApproveOnce, Who: "ann"})
					case presets.StepDecided, presets.StepStarted, presets.StepFinished:
					}
					return nil
				})
				f.runtime = start(t, testkit.Script{
					testkit.Call(actors.ToolCall{Name: riskyTool, Arguments: json.RawMessage(`{"n":1}`), Recorder: recorder}), testkit.Finish("ok"),
				}, &testkit.Options{Presets: f.presets(t), Actors: actors.Options{Exposure: presets.Gated}})
				f.id = f.runtime.Create("a", "")
				turn := f.runtime.Wait(f.runtime.Run(f.id, "go", actors.RunOptions{}))
				want := []presets.StepKind{presets.StepRequested, presets.StepDecided, presets.StepStarted, presets.StepFinished}
				runs := 1
				switch refuses {
				case presets.StepRequested:
					want, runs = want[:1], 0
				case presets.StepStarted:
					want, runs = want[:3], 0
				case "", presets.StepDecided, presets.StepFinished:
				}
				if diff := cmp.Diff(want, told); diff != "" {
					t.Errorf("the recorder was told (-want +got):\n%s", diff)
				}
				if f.runs() != runs || (turn.Status == messages.TurnCompleted) != (refuses == "") {
					t.Errorf("the tool ran %d times, want %d, and the turn %s", f.runs(), runs, turn.Status)
				}
			})
		})
	}
}
