package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/messages"
	"agentd/presets"
)

func tool(name string) Tool {
	return Tool{
		Name: name, Description: "A tool.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Handler: func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		},
	}
}

func claim(tb testing.TB, r *Registry, owner string, tools ...Tool) *Share {
	tb.Helper()
	share, err := r.Claim(owner)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := share.Replace(tools); err != nil {
		tb.Fatal(err)
	}
	return share
}

func newRegistry() *Registry {
	return NewRegistry(sdk.NewServer(&sdk.Implementation{Name: "t", Version: "1"}, nil))
}

func owned(r *Registry) map[string]string {
	out := make(map[string]string)
	for _, entry := range r.Entries() {
		out[entry.Tool.Name] = entry.Owner
	}
	return out
}

func TestShareReplace(t *testing.T) {
	t.Parallel()
	described, schemed, risky, sourced := tool("b"), tool("b"), tool("b"), tool("b")
	described.Description = "Another text."
	schemed.InputSchema = json.RawMessage(`{"type":"object","properties":{}}`)
	risky.Risk = messages.RiskShell
	sourced.Source = "other.b"
	tests := []struct {
		name  string
		tools []Tool
		want  Difference
	}{
		{"the same", []Tool{tool("a"), tool("b")}, Difference{}},
		{"one more", []Tool{tool("a"), tool("b"), tool("c")}, Difference{Added: []string{"c"}}},
		{"one less", []Tool{tool("a")}, Difference{Removed: []string{"b"}}},
		{"none", nil, Difference{Removed: []string{"a", "b"}}},
		{"another description", []Tool{tool("a"), described}, Difference{Changed: []string{"b"}}},
		{"another schema", []Tool{tool("a"), schemed}, Difference{Changed: []string{"b"}}},
		{"another risk", []Tool{tool("a"), risky}, Difference{Changed: []string{"b"}}},
		{"another source", []Tool{tool("a"), sourced}, Difference{Changed: []string{"b"}}},
		{"all kinds", []Tool{schemed, tool("c")}, Difference{Added: []string{"c"}, Changed: []string{"b"}, Removed: []string{"a"}}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRegistry()
			claim(t, r, "host", tool("foreign"))
			share := claim(t, r, "us", tool("a"), tool("b"))
			got, err := share.Replace(tc.tools)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Replace() (-want +got):\n%s", diff)
			}
			if owner := owned(r)["foreign"]; owner != "host" {
				t.Errorf("the foreign tool belongs to %q, want host", owner)
			}
			if len(share.Names()) != len(tc.tools) {
				t.Errorf("Names() = %v, want %d", share.Names(), len(tc.tools))
			}
		})
	}
}

func TestShareReplaceRefuses(t *testing.T) {
	t.Parallel()
	change := func(edit func(*Tool)) Tool {
		out := tool("c")
		edit(&out)
		return out
	}
	tests := []struct {
		name string
		tool Tool
		want error
		text []string
	}{
		{"a collision", tool("foreign"), ErrCollision, []string{`"foreign"`, `"host"`, `"us"`}},
		{"one that is there twice", tool("a"), ErrInvalid, []string{`"a"`, "twice"}},
		{"no name", change(func(t *Tool) { t.Name = "" }), ErrInvalid, []string{"name"}},
		{"a bad name", change(func(t *Tool) { t.Name = "a b" }), ErrInvalid, []string{`"a b"`}},
		{"a long name", change(func(t *Tool) { t.Name = strings.Repeat("x", 129) }), ErrInvalid, []string{"128"}},
		{"no description", change(func(t *Tool) { t.Description = " " }), ErrInvalid, []string{`"c"`, "description"}},
		{"no schema", change(func(t *Tool) { t.InputSchema = nil }), ErrInvalid, []string{`"c"`, "schema"}},
		{"a schema that is not JSON", change(func(t *Tool) { t.InputSchema = json.RawMessage(`{`) }), ErrInvalid, []string{`"c"`}},
		{"a schema that is no object", change(func(t *Tool) { t.InputSchema = json.RawMessage(`[]`) }), ErrInvalid, []string{`"c"`}},
		{"a schema of an array", change(func(t *Tool) { t.InputSchema = json.RawMessage(`{"type":"array"}`) }), ErrInvalid, []string{`"c"`}},
		{"no handler", change(func(t *Tool) { t.Handler = nil }), ErrInvalid, []string{`"c"`, "handler"}},
		{"a known one without handler", func() Tool { t := tool("b"); t.Handler = nil; return t }(), ErrInvalid, []string{`"b"`, "handler"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRegistry()
			claim(t, r, "host", tool("foreign"))
			share := claim(t, r, "us", tool("a"), tool("b"))
			before := owned(r)
			_, err := share.Replace([]Tool{tool("new"), tool("a"), tc.tool})
			if !errors.Is(err, tc.want) {
				t.Errorf("Replace() = %v, want %v", err, tc.want)
			}
			for _, part := range tc.text {
				if err != nil && !strings.Contains(err.Error(), part) {
					t.Errorf("Replace() = %q, want it to name %s", err, part)
				}
			}
			if diff := cmp.Diff(before, owned(r)); diff != "" {
				t.Errorf("it has changed something (-before +after):\n%s", diff)
			}
		})
	}
}

func TestRegistryClaim(t *testing.T) {
	t.Parallel()
	r := newRegistry()
	share := claim(t, r, "us", tool("a"))
	if _, err := r.Claim("us"); !errors.Is(err, ErrOwned) {
		t.Errorf("second Claim() = %v, want ErrOwned", err)
	}
	if _, err := r.Claim(""); !errors.Is(err, ErrInvalid) {
		t.Errorf("Claim(\"\") = %v, want ErrInvalid", err)
	}
	share.Release()
	share.Release()
	if _, err := share.Replace([]Tool{tool("b")}); !errors.Is(err, ErrReleased) {
		t.Errorf("Replace() after Release = %v, want ErrReleased", err)
	}
	claim(t, r, "us", tool("c"))
	if diff := cmp.Diff(map[string]string{"c": "us"}, owned(r)); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// listOf is a list that a test changes.
type listOf struct {
	tools []Tool
	err   error
	calls int
}

func (l *listOf) list(context.Context) ([]Tool, error) {
	l.calls++
	return l.tools, l.err
}

func TestSyncLife(t *testing.T) {
	t.Parallel()
	r := newRegistry()
	claim(t, r, "host", tool("foreign"))
	list := &listOf{tools: []Tool{tool("a"), tool("b")}}
	s, err := NewSync(SyncParams{Registry: r, List: list.list})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(t.Context()); !errors.Is(err, ErrNotStarted) {
		t.Errorf("Sync() before Start = %v, want ErrNotStarted", err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); !errors.Is(err, ErrStarted) {
		t.Errorf("second Start() = %v, want ErrStarted", err)
	}
	want := SyncStatus{Started: true, Owner: DefaultOwner, Tools: []string{"a", "b"}, Syncs: 1}
	if diff := cmp.Diff(want, s.Status()); diff != "" {
		t.Errorf("Status() (-want +got):\n%s", diff)
	}
	list.tools = []Tool{tool("b"), tool("c")}
	for range 2 { // The second one changes nothing.
		if err := s.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]string{"b": DefaultOwner, "c": DefaultOwner, "foreign": "host"}, owned(r)); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	list.err = errTest
	if err := s.Sync(t.Context()); !errors.Is(err, errTest) {
		t.Errorf("Sync() = %v, want the error of the list", err)
	}
	if status := s.Status(); !errors.Is(status.Err, errTest) || status.Syncs != 2 || len(status.Tools) != 2 {
		t.Errorf("Status() after a failed sync = %+v, want the error, 2 syncs and 2 tools", status)
	}
	s.Stop()
	s.Stop()
	if diff := cmp.Diff(map[string]string{"foreign": "host"}, owned(r)); diff != "" {
		t.Errorf("tools after Stop (-want +got):\n%s", diff)
	}
	if status := s.Status(); status.Started {
		t.Errorf("Status() after Stop = %+v, want not started", status)
	}
}

func TestSyncFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	t.Run("the list fails", func(t *testing.T) {
		t.Parallel()
		r := newRegistry()
		manager, err := presets.NewManager(nil)
		if err != nil {
			t.Fatal(err)
		}
		list := &listOf{err: errTest}
		s, err := NewSync(SyncParams{Registry: r, List: list.list, Changes: manager})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); !errors.Is(err, errTest) {
			t.Errorf("Start() = %v, want the error of the list", err)
		}
		calls := list.calls
		if err := manager.SetContext("", presets.Context{Surface: "elsewhere"}); err != nil {
			t.Fatal(err)
		}
		if list.calls != calls || len(r.Entries()) != 0 || s.Status().Started {
			t.Errorf("after a failed Start: %d more lists, tools %v, status %+v", list.calls-calls, r.Entries(), s.Status())
		}
		list.err, list.tools = nil, []Tool{tool("a")}
		if err := s.Start(t.Context()); err != nil {
			t.Errorf("Start() once more = %v, want nil", err)
		}
		s.Stop()
	})
	t.Run("a collision", func(t *testing.T) {
		t.Parallel()
		r := newRegistry()
		claim(t, r, "host", tool("b"))
		list := &listOf{tools: []Tool{tool("a"), tool("b")}}
		s, err := NewSync(SyncParams{Registry: r, List: list.list, Owner: "us"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); !errors.Is(err, ErrCollision) || !strings.Contains(err.Error(), `"b"`) || !strings.Contains(err.Error(), `"host"`) {
			t.Errorf("Start() = %v, want ErrCollision that names tool and owner", err)
		}
		if diff := cmp.Diff(map[string]string{"b": "host"}, owned(r)); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
		claim(t, r, "us") // The name is free again.
	})
	t.Run("the context has ended", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, presets.Gated)
		tools, err := NewToolServer(w.surface, presets.Caller{SessionID: testSession}, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.approvals.setFailure(errTest)
		if err := tools.Start(t.Context()); !errors.Is(err, errTest) {
			t.Errorf("Start() = %v, want the error of the approvals", err)
		}
		if got := tools.Registry().Entries(); len(got) != 0 {
			t.Errorf("tools after a failed Start = %v, want none", got)
		}
	})
}

func TestSyncFollowsItsSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, presets.Hidden)
	tools, err := NewToolServer(w.surface, presets.Caller{SessionID: testSession}, &ToolServerOptions{Changes: w.manager})
	if err != nil {
		t.Fatal(err)
	}
	if err := tools.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := []string{presets.RequestToolName, "space_echo", "space_hold", "space_panics"}
	if diff := cmp.Diff(all, tools.SyncStatus().Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	set := func(session messages.SessionID, override presets.Override) {
		t.Helper()
		if err := w.manager.SetOverride(t.Context(), session, "plain", override); err != nil {
			t.Fatal(err)
		}
	}
	set("agt-ses-other", presets.OverrideOff)
	if got := tools.SyncStatus(); got.Syncs != 1 {
		t.Errorf("a change of another session: %d syncs, want 1", got.Syncs)
	}
	set("", presets.OverrideOff)
	if diff := cmp.Diff([]string{presets.RequestToolName}, tools.SyncStatus().Tools); diff != "" {
		t.Errorf("tools after the preset was turned off (-want +got):\n%s", diff)
	}
	set(testSession, presets.OverrideOn)
	if diff := cmp.Diff(all, tools.SyncStatus().Tools); diff != "" {
		t.Errorf("tools after it was turned on for the session (-want +got):\n%s", diff)
	}
	tools.Stop()
	set(testSession, presets.OverrideOff)
	if got := tools.Registry().Entries(); len(got) != 0 {
		t.Errorf("tools after Stop = %v, want none", got)
	}
}

func TestNewSyncNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]SyncParams{"Registry": {List: (&listOf{}).list}, "List": {Registry: newRegistry()}} {
		if _, err := NewSync(params); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("NewSync() = %v, want ErrInvalid that names %s", err, name)
		}
	}
}
