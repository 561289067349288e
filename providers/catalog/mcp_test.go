package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/providers/catalog"
	"agentd/testkit"
)

// secret looks like a key.
const secret = "sk-" + "ant-api03-" + "Zb7Qx2Lm9Kp4Rt8Vw3Ny6Hc1Jd5Fg0SaZb7Qx2Lm9Kp4Rt8Vw3Ny6Hc1"

// mcpWorld is a home with sessions of two agents; Claude's can be read.
func mcpWorld(t *testing.T) *world {
	t.Helper()
	said := []catalog.Record{
		{Role: catalog.User, Text: "Where is the zebra?", TimeMS: base, Cite: "a"},
		{Role: catalog.Assistant, Text: "It uses " + secret + " now.", TimeMS: base, Cite: "b"},
	}
	w := newWorld(t, talking{fake{agent: catalog.Claude, records: said}}, fake{agent: catalog.Codex})
	w.put(t, catalog.Claude, "a.json",
		catalog.Session{ID: "one", ProjectPath: "/work/app", TimeMS: base, Title: "Fix the parser", Branch: "main", Worktree: "wt", Recap: "Half done."},
		catalog.Session{ID: "two", ProjectPath: "/work/site", TimeMS: base - 1000, Prompts: []string{"Write a page"}},
		catalog.Session{ID: "robot", ProjectPath: "/work/app", TimeMS: base - 2000, NonInteractive: true},
		catalog.Session{ID: "old", ProjectPath: "/work/app", TimeMS: base - 3000, Details: catalog.Details{Archived: true}},
		catalog.Session{ID: "twin", ProjectPath: "/work/app", TimeMS: base - 4000}, catalog.Session{ID: "twin", ProjectPath: "/work/site", TimeMS: base - 5000})
	w.put(t, catalog.Codex, "b.json", catalog.Session{ID: "three", ProjectPath: "/work/app", TimeMS: base - 500})
	return w
}

func (w *world) mcpCatalog(t *testing.T, opts catalog.Options) *catalog.Catalog {
	t.Helper()
	opts.Version = "9.9.9"
	return w.catalog(t, opts)
}

// TestMCPTools holds the list of tools, in all eras, to what is recorded, which is the contract.
func TestMCPTools(t *testing.T) {
	t.Parallel()
	for name, version := range eras() {
		for golden, opts := range map[string]*catalog.MCPOptions{"tools": nil, "tools-extended": {Extended: true}} {
			t.Run(name+" "+golden, func(t *testing.T) {
				t.Parallel()
				c := serve(t, mcpWorld(t).mcpCatalog(t, catalog.Options{}), opts, version)
				var list struct {
					Tools json.RawMessage `json:"tools"`
				}
				if err := json.Unmarshal(c.request("tools/list", "").Result, &list); err != nil {
					t.Fatal(err)
				}
				testkit.Golden(t, filepath.Join("testdata", "mcp", golden+".json"), indent(t, list.Tools))
			})
		}
	}
}

// TestMCPSchemas holds the default tools to the table of the contract.
func TestMCPSchemas(t *testing.T) {
	t.Parallel()
	c := serve(t, mcpWorld(t).mcpCatalog(t, catalog.Options{}), nil, "2025-11-25")
	var list struct {
		Tools []struct {
			Name         string
			OutputSchema any
			InputSchema  struct {
				Type                 string
				Required             []string
				AdditionalProperties any
				Properties           map[string]struct{ Default any }
			}
			Annotations map[string]bool
		}
	}
	if err := json.Unmarshal(c.request("tools/list", "").Result, &list); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"agf_capabilities":    `required [], optional {}`,
		"agf_get_session":     `required [agent session_id], optional {"include_non_interactive":false,"include_summaries":false}`,
		"agf_resume_plan":     `required [agent session_id], optional {"include_non_interactive":false,"mode":null}`,
		"agf_search_sessions": `required [], optional {"agent":null,"include_non_interactive":false,"include_summaries":false,"limit":20,"offset":0,"project":null,"query":""}`,
	}
	got := map[string]string{}
	for _, tool := range list.Tools {
		optional := map[string]any{}
		for name, p := range tool.InputSchema.Properties {
			optional[name] = p.Default
		}
		for _, name := range tool.InputSchema.Required {
			delete(optional, name)
		}
		text, err := json.Marshal(optional)
		if err != nil {
			t.Fatal(err)
		}
		got[tool.Name] = fmt.Sprintf("required %v, optional %s", tool.InputSchema.Required, text)
		if tool.InputSchema.Type != "object" || tool.InputSchema.AdditionalProperties != false || tool.OutputSchema != nil {
			t.Errorf("%s: type %q, additional properties %v, output schema %v; want object, false and none",
				tool.Name, tool.InputSchema.Type, tool.InputSchema.AdditionalProperties, tool.OutputSchema)
		}
		hints := map[string]bool{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
		if diff := cmp.Diff(hints, tool.Annotations); diff != "" {
			t.Errorf("%s: annotations (-want +got):\n%s", tool.Name, diff)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// TestMCPCalls calls every tool in every era; what comes is what the catalog itself answers.
func TestMCPCalls(t *testing.T) {
	t.Parallel()
	for name, version := range eras() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cat := mcpWorld(t).mcpCatalog(t, catalog.Options{})
			c := serve(t, cat, nil, version)
			ctx, nobody := t.Context(), 0
			mode := "fast"
			for _, test := range []struct {
				tool, arguments string
				direct          func() (any, error)
			}{
				{"agf_search_sessions", `{}`, func() (any, error) { return cat.Search(ctx, catalog.SearchRequest{}) }},
				{"agf_search_sessions", `{"query":"parser","agent":"claude-code","project":null,"limit":1,"offset":0,"include_summaries":true,"include_non_interactive":true}`, func() (any, error) {
					agent, one := "claude", 1
					return cat.Search(ctx, catalog.SearchRequest{Query: "parser", Agent: &agent, Limit: &one, IncludeSummaries: true, IncludeNonInteractive: true})
				}},
				{"agf_search_sessions", `{"limit":0}`, func() (any, error) { return cat.Search(ctx, catalog.SearchRequest{Limit: &nobody}) }},
				{"agf_get_session", `{"agent":"claude","session_id":"one","include_summaries":true}`, func() (any, error) {
					return cat.Show(ctx, catalog.ShowRequest{Agent: "claude", SessionID: "one", IncludeSummaries: true})
				}},
				{"agf_get_session", `{"agent":"claude","session_id":"twin"}`, func() (any, error) {
					return cat.Show(ctx, catalog.ShowRequest{Agent: "claude", SessionID: "twin"})
				}},
				{"agf_resume_plan", `{"agent":"claude","session_id":"one","mode":"fast"}`, func() (any, error) {
					return cat.ResumePlan(ctx, catalog.PlanRequest{Agent: "claude", SessionID: "one", Mode: &mode})
				}},
				{"agf_resume_plan", `{"agent":"claude","session_id":"one","mode":null}`, func() (any, error) {
					return cat.ResumePlan(ctx, catalog.PlanRequest{Agent: "claude", SessionID: "one"})
				}},
				{"agf_search_sessions", `null`, func() (any, error) { return cat.Search(ctx, catalog.SearchRequest{}) }},
				{"agf_capabilities", `{}`, func() (any, error) { return cat.Capabilities(ctx, false) }},
			} {
				got := c.call(test.tool, test.arguments)
				data, err := test.direct()
				want, encodeErr := json.Marshal(cat.Seal(data, err))
				if encodeErr != nil {
					t.Fatal(encodeErr)
				}
				if raw, _ := json.Marshal(got.sealed()); !sameJSON(t, raw, want) {
					t.Errorf("%s %s = %s, want %s", test.tool, test.arguments, raw, want)
				}
			}
		})
	}
}

// sealed is the envelope as it is written.
func (e envelope) sealed() catalog.Envelope {
	out := catalog.Envelope{SchemaVersion: e.SchemaVersion, Version: e.Version, OK: *e.OK, Error: e.Error}
	if e.Data != nil {
		out.Data = e.Data
	}
	return out
}

// TestMCPErrors has each code that a call can be answered with.
func TestMCPErrors(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	w.readers = append(w.readers, fake{agent: catalog.Gemini, fail: io.ErrUnexpectedEOF})
	wide := serve(t, w.mcpCatalog(t, catalog.Options{}), nil, "")
	narrow := serve(t, w.mcpCatalog(t, catalog.Options{Agent: "codex", Project: "/work/app"}), nil, "")
	long := strings.Repeat("x", 1025)
	for _, test := range []struct {
		client          *client
		tool, arguments string
		want            catalog.Code
	}{
		{wide, "agf_search_sessions", `{"limit":201}`, catalog.InvalidRequest},
		{wide, "agf_search_sessions", `{"limit":-1}`, catalog.InvalidRequest},
		{wide, "agf_search_sessions", `{"offset":1000001}`, catalog.InvalidRequest},
		{wide, "agf_search_sessions", `{"query":"` + long + `"}`, catalog.InvalidRequest},
		{wide, "agf_search_sessions", `{"project":""}`, catalog.InvalidRequest},
		{wide, "agf_search_sessions", `{"project":"a\u0000b"}`, catalog.InvalidRequest},
		{wide, "agf_search_sessions", `{"project":"/` + strings.Repeat("x", 4096) + `"}`, catalog.InvalidRequest},
		{wide, "agf_search_sessions", `{"agent":""}`, catalog.InvalidAgent},
		{wide, "agf_search_sessions", `{"agent":"nobody"}`, catalog.InvalidAgent},
		{wide, "agf_search_sessions", `{"agent":"` + strings.Repeat("x", 65) + `"}`, catalog.InvalidAgent},
		{wide, "agf_search_sessions", `{"agent":"gemini"}`, catalog.ScanFailed},
		{wide, "agf_get_session", `{"agent":"claude","session_id":""}`, catalog.InvalidRequest},
		{wide, "agf_get_session", `{"agent":"claude","session_id":"-one"}`, catalog.InvalidRequest},
		{wide, "agf_get_session", `{"agent":"claude","session_id":"o\nne"}`, catalog.InvalidRequest},
		{wide, "agf_get_session", `{"agent":"claude","session_id":"` + long + `"}`, catalog.InvalidRequest},
		{wide, "agf_get_session", `{"agent":"claude","session_id":"absent"}`, catalog.NotFound},
		{wide, "agf_get_session", `{"agent":"claude","session_id":"robot"}`, catalog.NotFound},
		{wide, "agf_get_session", `{"agent":"claude","session_id":"twin"}`, catalog.AmbiguousSession},
		{wide, "agf_resume_plan", `{"agent":"claude","session_id":"one","mode":"slow"}`, catalog.InvalidResumePlan},
		{wide, "agf_resume_plan", `{"agent":"claude","session_id":"one","mode":"` + strings.Repeat("x", 65) + `"}`, catalog.InvalidRequest},
		{narrow, "agf_search_sessions", `{"agent":"claude"}`, catalog.OutOfScope},
		{narrow, "agf_search_sessions", `{"project":"/work/site"}`, catalog.OutOfScope},
		{narrow, "agf_get_session", `{"agent":"claude","session_id":"one"}`, catalog.OutOfScope},
		{narrow, "agf_resume_plan", `{"agent":"claude","session_id":"one"}`, catalog.OutOfScope},
	} {
		if got := test.client.call(test.tool, test.arguments); got.Error == nil || got.Error.Code != test.want {
			t.Errorf("%s %.80s = %+v, want %s", test.tool, test.arguments, got.Error, test.want)
		}
	}
	within := narrow.call("agf_search_sessions", `{"agent":null,"project":null}`)
	if !strings.Contains(string(within.Data), `"three"`) || strings.Contains(string(within.Data), `"one"`) {
		t.Errorf("a search within the scope answers %s, want session three alone", within.Data)
	}
}

// TestMCPRefusals has the calls that never reach an operation: a text and no envelope, or an error of the protocol.
func TestMCPRefusals(t *testing.T) {
	t.Parallel()
	for name, version := range eras() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, mcpWorld(t).mcpCatalog(t, catalog.Options{}), nil, version)
			for _, test := range []struct{ tool, arguments string }{
				{"agf_search_sessions", `{"bogus":1}`},
				{"agf_search_sessions", `{"Query":"x"}`},
				{"agf_search_sessions", `{"limit":"ten"}`},
				{"agf_search_sessions", `{"limit":1.5}`},
				{"agf_search_sessions", `{"limit":1e30}`},
				{"agf_search_sessions", `{"limit":null}`},
				{"agf_search_sessions", `{"agent":5}`},
				{"agf_search_sessions", `{"include_summaries":"yes"}`},
				{"agf_search_sessions", `{"details":true}`},
				{"agf_search_sessions", `{"content":true}`},
				{"agf_search_sessions", `[]`},
				{"agf_get_session", `null`},
				{"agf_get_session", `{"agent":"claude"}`},
				{"agf_get_session", `{"agent":"claude","session_id":"one","project":"/work/app"}`},
				{"agf_get_session", `{"agent":null,"session_id":"one"}`},
				{"agf_resume_plan", `{"session_id":"one"}`},
				{"agf_capabilities", `{"details":true}`},
			} {
				var result struct {
					IsError    bool
					Structured json.RawMessage `json:"structuredContent"`
					Content    []struct{ Type, Text string }
				}
				r := c.request("tools/call", callParams(test.tool, test.arguments))
				if err := json.Unmarshal(r.Result, &result); err != nil {
					t.Fatalf("%s %s = %+v: %v", test.tool, test.arguments, r, err)
				}
				if !result.IsError || result.Structured != nil || len(result.Content) != 1 || result.Content[0].Text == "" {
					t.Errorf("%s %s = %s, want isError and one text", test.tool, test.arguments, r.Result)
				}
			}
			for _, tool := range []string{"agf_delete", "agf_read_session"} {
				if r := c.request("tools/call", callParams(tool, "{}")); r.Error == nil || r.Error.Code != -32602 {
					t.Errorf("%s = %+v, want -32602", tool, r)
				}
			}
			for _, method := range []string{"prompts/list", "resources/list", "no/such"} {
				if r := c.request(method, ""); r.Error == nil || r.Error.Code != -32601 {
					t.Errorf("%s = %+v, want -32601", method, r)
				}
			}
			c.call("agf_capabilities", "{}")
		})
	}
}

func TestMCPExtended(t *testing.T) {
	t.Parallel()
	c := serve(t, mcpWorld(t).mcpCatalog(t, catalog.Options{}), &catalog.MCPOptions{Extended: true}, "")
	for _, test := range []struct {
		tool, arguments string
		want, not       string
	}{
		{"agf_search_sessions", `{"details":true,"include_archived":true}`, `"project_exists":false`, `"matches"`},
		{"agf_search_sessions", `{"include_archived":true}`, `"old"`, `"details"`},
		{"agf_search_sessions", `{}`, `"one"`, `"old"`},
		{"agf_search_sessions", `{"content":true,"query":"zebra","agent":"claude"}`, `Where is the zebra?`, `"details"`},
		{"agf_get_session", `{"agent":"claude","session_id":"old","include_archived":true,"details":true}`, `"archived":true`, `"summaries"`},
		{"agf_resume_plan", `{"agent":"claude","session_id":"old","include_archived":true}`, `"executed":false`, `"details"`},
		{"agf_capabilities", `{"details":true}`, `"stores"`, `"sessions":`},
		{"agf_read_session", `{"agent":"claude","session_id":"one"}`, `It uses [masked]`, secret},
		{"agf_read_session", `{"agent":"claude","session_id":"one","max_bytes":1}`, `"next_before":"b"`, `zebra`},
		{"agf_read_session", `{"agent":"claude","session_id":"one","before":"b"}`, `Where is the zebra?`, `It uses`},
		{"agf_read_session", `{"agent":"claude","session_id":"old","include_archived":true,"before":null}`, `"records"`, secret},
	} {
		got := c.call(test.tool, test.arguments)
		if !strings.Contains(string(got.Data), test.want) || strings.Contains(string(got.Data), test.not) {
			t.Errorf("%s %s = %s %+v, want %s and not %s", test.tool, test.arguments, got.Data, got.Error, test.want, test.not)
		}
	}
	for arguments, want := range map[string]catalog.Code{
		`{"agent":"claude","session_id":"one","before":"z"}`:         catalog.InvalidRequest,
		`{"agent":"claude","session_id":"one","max_bytes":99999999}`: catalog.InvalidRequest,
		`{"agent":"claude","session_id":"old"}`:                      catalog.NotFound,
		`{"agent":"codex","session_id":"three"}`:                     catalog.InvalidRequest,
	} {
		if got := c.call("agf_read_session", arguments); got.Error == nil || got.Error.Code != want {
			t.Errorf("agf_read_session %s = %+v, want %s", arguments, got.Error, want)
		}
	}
}

// TestMCPRemembers holds that a second call parses nothing again.
func TestMCPRemembers(t *testing.T) {
	t.Parallel()
	var parsed atomic.Int32
	w := newWorld(t, fake{agent: catalog.Claude, parsed: func(string) { parsed.Add(1) }})
	w.put(t, catalog.Claude, "a.json", catalog.Session{ID: "one", ProjectPath: "/work/app", TimeMS: base})
	c := serve(t, w.mcpCatalog(t, catalog.Options{}), nil, "")
	for range 3 {
		c.call("agf_search_sessions", "{}")
	}
	if n := parsed.Load(); n != 1 {
		t.Errorf("three searches parsed %d files, want 1", n)
	}
}

// holding is a fake that waits while it lists files.
type holding struct {
	fake
	started, release chan struct{}
}

func (h holding) Discover(context.Context, *catalog.Discovery) error {
	h.started <- struct{}{}
	<-h.release
	return nil
}

// TestMCPBusy holds that two operations run, that a third is told so at once, and that a cancelled one keeps its place until its work is over.
func TestMCPBusy(t *testing.T) {
	t.Parallel()
	h := holding{fake{agent: catalog.Claude}, make(chan struct{}), make(chan struct{})}
	c := serve(t, newWorld(t, h).mcpCatalog(t, catalog.Options{}), nil, "2025-11-25")
	one := c.ask("tools/call", callParams("agf_search_sessions", "{}"))
	<-h.started
	two := c.ask("tools/call", callParams("agf_search_sessions", "{}"))
	<-h.started
	busy := func(when string) {
		t.Helper()
		if got := c.call("agf_capabilities", "{}"); got.Error == nil || got.Error.Code != catalog.Busy {
			t.Errorf("a call %s = %+v, want busy", when, got.Error)
		}
	}
	busy("beyond two")
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, one))
	c.request("ping", "")
	busy("beside a cancelled one that still works")
	h.release <- struct{}{}
	h.release <- struct{}{}
	c.envelope(c.await(two)) // The cancelled one is not answered.
	for range 200 {          // Its place is given back when its handler has returned, which may be a moment later.
		if got := c.call("agf_capabilities", "{}"); got.Error == nil {
			return
		}
	}
	t.Error("the places are not given back")
}

// panicking is a fake whose launch is a mistake.
type panicking struct{ fake }

func (panicking) Launch(catalog.Env, *catalog.Session) catalog.Launch {
	panic("a secret of the reader")
}

func TestMCPPanic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, panicking{fake{agent: catalog.Claude}})
	w.put(t, catalog.Claude, "a.json", catalog.Session{ID: "one", ProjectPath: "/work/app", TimeMS: base})
	for name, version := range eras() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, w.mcpCatalog(t, catalog.Options{}), nil, version)
			got := c.call("agf_resume_plan", `{"agent":"claude","session_id":"one"}`)
			if got.Error == nil || got.Error.Code != catalog.InternalError || strings.Contains(got.Error.Message, "secret") {
				t.Errorf("a call that panics = %+v, want internal_error without the panic's words", got.Error)
			}
			c.call("agf_search_sessions", "{}")
		})
	}
}

// TestMCPSurvivesNonsense holds that lines that are no messages are answered, and that the server goes on and ends well.
func TestMCPSurvivesNonsense(t *testing.T) {
	t.Parallel()
	for name, version := range eras() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, mcpWorld(t).mcpCatalog(t, catalog.Options{}), nil, version)
			for line, code := range map[string]int{`{"jsonrpc":"2.0","id":1,"method":"pi`: -32700, `{}`: -32600, `[]`: -32600} {
				c.send(line)
				if r := c.await(0); r.Error == nil || r.Error.Code != code {
					t.Errorf("%s is answered %+v, want %d", line, r.Error, code)
				}
			}
			c.call("agf_search_sessions", "{}")
			_ = c.in.Close()
			if err := <-c.result; err != nil {
				t.Errorf("ServeMCP = %v at the end of the input, want nil", err)
			}
		})
	}
}

// TestMCPWithClient lets the SDK's own client speak, in each version that it can be pinned to.
func TestMCPWithClient(t *testing.T) {
	t.Parallel()
	for _, version := range append(sdk.SupportedProtocolVersions(), "") {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			inReader, inWriter := io.Pipe()
			outReader, outWriter := io.Pipe()
			result := make(chan error, 1)
			cat := mcpWorld(t).mcpCatalog(t, catalog.Options{})
			go func() {
				result <- cat.ServeMCP(t.Context(), inReader, outWriter, nil)
				_ = outWriter.Close()
			}()
			session, err := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(),
				&sdk.IOTransport{Reader: outReader, Writer: inWriter}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			call, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: catalog.ToolSearch, Arguments: map[string]any{"query": "parser", "include_summaries": true}})
			if err != nil || call.IsError {
				t.Fatalf("CallTool = %+v, %v", call, err)
			}
			text, _ := call.Content[0].(*sdk.TextContent)
			if text == nil || !strings.Contains(text.Text, "Fix the parser") {
				t.Errorf("CallTool answers %+v, want the session about the parser", call.Content)
			}
			if err := session.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			if err := <-result; err != nil {
				t.Errorf("ServeMCP = %v, want nil", err)
			}
		})
	}
}
