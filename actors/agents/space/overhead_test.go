//go:build e2e

package space_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"agentd/messages"
	"agentd/presets"
	"agentd/providers/opencode"
	ms "agentd/testkit/modelserver"
)

// BenchmarkOverhead measures what our layer adds to a turn of OpenCode: the same prompt for the same scripted model, through the runtime and the
// agent (durable input, tools bound, events followed, drafts, audit, durable end), and driven directly with the SDK client's blocking prompt. The two
// take turns in one run, on one OpenCode process, each in a session of its own. The machine's limit beside it is one request to OpenCode that does nothing:
//
//	make bench/overhead
func BenchmarkOverhead(b *testing.B) {
	model := newModel(b, ms.Step{Reply: ms.Say("a plain answer in several pieces"), Times: ms.Always})
	h := real(b, model, func(s *setting) {
		s.before = func(h *host) {
			h.tool("echo", "space_agent_echo_token", messages.RiskNormal, echoSchema, field("token", ""))
		}
	})
	const prompt = "Say something plain."
	through := h.session("through")
	h.complete(through, prompt)
	bare := newBare(b, h)
	system := model.Turns()[0].System
	bare.turn(b, prompt, system)

	var ours, theirs, pings []time.Duration
	for b.Loop() {
		// Who goes first changes, so that neither has the warmer machine.
		steps := []func(){
			func() { ours = append(ours, timed(func() { h.complete(through, prompt) })) },
			func() { theirs = append(theirs, timed(func() { bare.turn(b, prompt, system) })) },
		}
		if len(ours)%2 == 1 {
			slices.Reverse(steps)
		}
		for _, step := range steps {
			step()
		}
		pings = append(pings, timed(func() { bare.ping(b) }))
	}
	b.ReportMetric(0, "ns/op")
	for name, value := range map[string]time.Duration{
		"through-p50-ms": p50(ours), "bare-p50-ms": p50(theirs), "added-p50-ms": p50(ours) - p50(theirs), "request-p50-ms": p50(pings),
	} {
		b.ReportMetric(float64(value.Microseconds())/1000, name)
	}
	b.Logf("%d turns each: through agentd %s, bare %s, added %s (target 5 ms); one empty request to OpenCode %s", len(ours),
		p50(ours), p50(theirs), p50(ours)-p50(theirs), p50(pings))
}

// bare is an OpenCode session that is driven without us.
type bare struct {
	client  *opencode.Client
	session string
}

// newBare makes a session in a directory that is connected to tools as that of a session of ours is.
func newBare(b *testing.B, h *host) *bare {
	b.Helper()
	link, err := h.br.Open(b.Context(), presets.Caller{SessionID: "bare", AgentID: "space"})
	if err != nil {
		b.Fatal(err)
	}
	made, err := link.Client().CreateSession(b.Context(), opencode.NewSession{Title: "bare"})
	if err != nil {
		b.Fatal(err)
	}
	return &bare{client: link.Client(), session: made.ID}
}

func (d *bare) turn(b *testing.B, prompt, system string) {
	b.Helper()
	m, err := d.client.Prompt(b.Context(), d.session, opencode.PromptParams{Text: prompt, Model: fake, System: system})
	if err == nil && m.Text() == "" {
		err = errors.New("there is no answer")
	}
	if err != nil {
		b.Fatal(fmt.Errorf("the bare turn: %w", err))
	}
}

func (d *bare) ping(b *testing.B) {
	b.Helper()
	if _, err := d.client.Health(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func timed(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}

func p50(all []time.Duration) time.Duration {
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}
