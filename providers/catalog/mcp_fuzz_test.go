package catalog_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"agentd/providers/catalog"
)

// FuzzMCPArguments holds that whatever a tool is called with, the answer is an envelope, a refusal in words, or an error of the protocol, and
// that the server goes on.
func FuzzMCPArguments(f *testing.F) {
	tools := []string{catalog.ToolSearch, catalog.ToolShow, catalog.ToolPlan, catalog.ToolCapabilities, catalog.ToolRead}
	for tool := range tools {
		for _, seed := range []string{
			`{}`, `null`, `[]`, `{"query":"agent:claude since:7d \u0000"}`, `{"limit":-1,"offset":1e9}`, `{"agent":"claude","session_id":"one","mode":null}`,
			`{"agent":"claude","session_id":"one","max_bytes":1,"before":"a"}`, `{"project":"/\ud800","content":true}`, `{"details":true,"details":false}`,
		} {
			f.Add(byte(tool), seed)
		}
	}
	f.Fuzz(func(t *testing.T, tool byte, arguments string) {
		if !json.Valid([]byte(arguments)) || !utf8.ValidString(arguments) || len(arguments) > 32_768 {
			t.Skip("the guard of lines has its own tests")
		}
		var compact json.RawMessage
		if err := json.Unmarshal([]byte(arguments), &compact); err != nil {
			t.Skip(err)
		}
		line, err := json.Marshal(compact) // A message is one line.
		if err != nil {
			t.Skip(err)
		}
		w := newWorld(t, talking{fake{agent: catalog.Claude, records: []catalog.Record{{Role: catalog.User, Text: "hi", Cite: "a"}}}})
		w.put(t, catalog.Claude, "a.json", catalog.Session{ID: "one", ProjectPath: "/work/app", TimeMS: base})
		c := serve(t, w.mcpCatalog(t, catalog.Options{}), &catalog.MCPOptions{Extended: true}, "2025-11-25")
		r := c.request("tools/call", callParams(tools[int(tool)%len(tools)], string(line)))
		var result struct {
			IsError    bool
			Structured json.RawMessage `json:"structuredContent"`
		}
		if err := json.Unmarshal(r.Result, &result); r.Error == nil && err != nil {
			t.Fatalf("the answer to %s is %+v: %v", arguments, r, err)
		}
		switch {
		case r.Error != nil && r.Error.Code == -32602:
		case r.Error != nil:
			t.Errorf("%s is answered %+v, want a result or -32602", arguments, r.Error)
		case result.Structured != nil:
			if e := c.envelope(r); e.Error != nil && e.Error.Code == catalog.InternalError {
				t.Errorf("%s is answered %+v", arguments, e.Error)
			}
		case !result.IsError:
			t.Errorf("%s is answered %s, want an envelope or a refusal", arguments, r.Result)
		}
		c.request("ping", "")
	})
}
