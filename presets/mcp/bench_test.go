package mcp

import (
	"context"
	"slices"
	"testing"
	"time"

	"agentd/presets"
)

// BenchmarkChangeVisible measures how long a change of the presets takes until a connected client has been told and has listed the new tools. The
// target is 50 ms; 10 ms of it are the engine's, which waits for more changes before it tells.
func BenchmarkChangeVisible(b *testing.B) {
	for _, kind := range transportKinds() {
		b.Run(kind.name, func(b *testing.B) {
			w := newWorld(b, presets.Hidden)
			server := startServer(b, w, nil)
			defer w.manager.OnChange(func(change presets.Change) {
				if err := server.Sync(context.Background(), change); err != nil {
					b.Error(err)
				}
			})()
			client := connect(b, openEndpoint(b, w, server), kind, nil)
			defer client.close()
			toggle := func(on bool) {
				override := map[bool]presets.Override{true: presets.OverrideOn, false: presets.OverrideOff}[on]
				if err := w.manager.SetOverride(b.Context(), testSession, "plain", override); err != nil {
					b.Fatal(err)
				}
			}
			on := true
			// The client of the newer lifecycle subscribes in its own time.
			for subscribed := false; !subscribed; {
				on = !on
				toggle(on)
				select {
				case <-client.changed:
					subscribed = true
				case <-time.After(100 * time.Millisecond):
				}
			}
			var took []time.Duration
			for b.Loop() {
				on = !on
				started := time.Now()
				toggle(on)
				for {
					<-client.changed
					if slices.Contains(client.names(), "space_echo") == on {
						break
					}
				}
				took = append(took, time.Since(started))
			}
			report(b, took)
		})
	}
}

// BenchmarkCall measures one call of a tool that does nothing, with its steps recorded in memory. "surface" is the call without MCP.
func BenchmarkCall(b *testing.B) {
	b.Run("surface", func(b *testing.B) {
		w := newWorld(b, presets.Hidden)
		var took []time.Duration
		for b.Loop() {
			started := time.Now()
			if _, err := w.surface.Call(b.Context(), presets.Call{Caller: w.turn().Caller, Name: "space_echo", Recorder: discard{}}); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(started))
		}
		report(b, took)
	})
	for _, kind := range transportKinds() {
		b.Run(kind.name, func(b *testing.B) {
			w := newWorld(b, presets.Hidden)
			endpoint := openEndpoint(b, w, startServer(b, w, nil))
			turn := w.turn()
			turn.Recorder = discard{}
			if _, err := endpoint.Bind(turn); err != nil {
				b.Fatal(err)
			}
			client := connect(b, endpoint, kind, nil)
			defer client.close()
			var took []time.Duration
			for b.Loop() {
				started := time.Now()
				if _, err := client.call(b.Context(), "space_echo", nil); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(started))
			}
			report(b, took)
		})
	}
}

type discard struct{}

func (discard) Record(context.Context, presets.Step) error { return nil }

func report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	milliseconds := func(share float64) float64 {
		return float64(took[min(len(took)-1, int(share*float64(len(took))))]) / float64(time.Millisecond)
	}
	b.ReportMetric(milliseconds(0.5), "p50-ms")
	b.ReportMetric(milliseconds(0.99), "p99-ms")
}
