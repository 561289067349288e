package presets

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"agentd/messages"
)

// setupBench is a surface with 10 presets of 10 tools each.
func setupBench(b *testing.B) *Surface {
	b.Helper()
	manager, err := NewManager(nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10 {
		p := Preset{Name: fmt.Sprint("p", i), Risk: messages.Risks()[i%5], Contexts: []Pattern{{}}}
		for j := range 10 {
			id := fmt.Sprintf("t%d.%d", i, j)
			adapter := goodAdapter(id, fmt.Sprintf("space_t%d_%d", i, j))
			adapter.InputSchema = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer"}},"required":["path"],"additionalProperties":false}`)
			if err := manager.RegisterAdapter(adapter); err != nil {
				b.Fatal(err)
			}
			p.ToolIDs = append(p.ToolIDs, id)
		}
		if err := manager.RegisterPreset(p); err != nil {
			b.Fatal(err)
		}
	}
	surface, err := NewSurface(manager, &fakeApprovals{policy: DefaultPolicy()}, nil)
	if err != nil {
		b.Fatal(err)
	}
	return surface
}

// BenchmarkTools lists 100 active tools, 20 of them to be seen.
func BenchmarkTools(b *testing.B) {
	surface := setupBench(b)
	b.ReportAllocs()
	for b.Loop() {
		if tools, err := surface.Tools(context.Background(), Caller{SessionID: "s"}); err != nil || len(tools) != 21 {
			b.Fatal(len(tools), err)
		}
	}
}

// BenchmarkCheckCall checks one call: look-up, canonical arguments, fingerprint, schema, verdict.
func BenchmarkCheckCall(b *testing.B) {
	surface := setupBench(b)
	call := Call{Name: "space_t4_9", Arguments: json.RawMessage(`{"path":"a/b/c.go","n":12}`), CallID: "c"}
	b.ReportAllocs()
	for b.Loop() {
		if verdict, err := surface.Check(context.Background(), call); err != nil || verdict.State != StateNeedsApproval {
			b.Fatal(verdict, err)
		}
	}
}

// BenchmarkCall is a whole call of a normal tool that does nothing.
func BenchmarkCall(b *testing.B) {
	surface := setupBench(b)
	call := Call{Name: "space_t0_9", Arguments: json.RawMessage(`{"path":"a/b/c.go","n":12}`), CallID: "c"}
	b.ReportAllocs()
	for b.Loop() {
		if result, err := surface.Call(context.Background(), call); err != nil || result.IsError {
			b.Fatal(result, err)
		}
	}
}
