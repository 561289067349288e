package approval

import (
	"fmt"
	"testing"

	"agentd/messages"
	"agentd/presets"
)

// BenchmarkCheck is a look at one call among 1,000 grants.
func BenchmarkCheck(b *testing.B) {
	var grants []presets.Grant
	for i := range 1000 {
		grants = append(grants, presets.Grant{
			ID: presets.GrantID(fmt.Sprint("g", i)), ToolID: "shell.run", Risk: messages.RiskShell, Fingerprint: fmt.Sprint("f", i),
		})
	}
	state := New(Params{Grants: grants})
	query := queryOf(sample("c"))
	query.Fingerprint = "f500"
	b.ReportAllocs()
	for b.Loop() {
		if state.Check(1, query).State != presets.StateApproved {
			b.Fatal("not approved")
		}
	}
}

// BenchmarkAskAndDecide is one call that waits and is approved.
func BenchmarkAskAndDecide(b *testing.B) {
	state := New(Params{})
	ask := sample("c")
	b.ReportAllocs()
	for b.Loop() {
		state.Step(1, Ask{Waiter: 1, Ask: ask, FreshID: "r1"})
		if got := state.Step(1, Decide{Request: "r1", Answer: presets.Answer{Verb: presets.ApproveOnce}}); len(got) != 3 {
			b.Fatal("not approved")
		}
	}
}
