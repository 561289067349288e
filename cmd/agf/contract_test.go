package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentd/cmd/internal/agfcmd"
	"agentd/testkit"
)

// The sessions of testdata/home.
const (
	parserID   = "11111111-0000-4000-8000-000000000001"
	headlessID = "11111111-0000-4000-8000-000000000002"
	goneID     = "22222222-0000-4000-8000-000000000003"
	twinID     = "33333333-0000-4000-8000-000000000004"
	buttonID   = "55555555-0000-4000-8000-000000000006"
	archivedID = "66666666-0000-4000-8000-000000000007"
)

// keys returns the sorted names of an object's members, joined.
func keys(t *testing.T, object any) string {
	t.Helper()
	members, ok := object.(map[string]any)
	if !ok {
		t.Fatalf("%v is no object", object)
	}
	var names []string
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// at walks down an object: at(v, "data", "sessions", 0).
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				t.Fatalf("there is no element %d in %v", step, v)
			}
			v = list[step]
		}
	}
	return v
}

// The fields of the contract, in order of their names.
const (
	sessionFields = "agent agent_name git_branch interactive key project_name project_path session_id timestamp_ms worktree"
	planFields    = "agent args cwd env executable_found program session_id working_directory_exists"
)

// TestContract holds the default answers to the contract's fields, and to what is recorded.
func TestContract(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	type fields struct {
		path []any
		want string
	}
	for _, test := range []struct {
		name string
		args []string
		code int
		want []fields
	}{
		{"search", []string{"search", "--agent", "codex"}, 0, []fields{
			{[]any{"data"}, "next_offset offset sessions total warnings"}, {[]any{"data", "sessions", 0}, sessionFields}, {[]any{"data", "warnings", 0}, "agent code message"},
		}},
		{"search-summaries", []string{"search", "zyxwq", "--include-summaries", "--limit", "1"}, 0, []fields{
			{[]any{"data", "sessions", 0}, strings.Replace(strings.Replace(sessionFields, "session_id", "recap session_id", 1), "timestamp_ms", "summaries timestamp_ms", 1)},
		}},
		{"search-claude", []string{"search", "--agent", "claude-code", "--limit", "2"}, 0, nil},
		{"search-empty", []string{"search", "zyxwqqq", "--agent", "claude"}, 0, nil},
		{"search-past-the-end", []string{"search", "--offset", "1000", "--agent", "codex"}, 0, nil},
		{"show", []string{"show", parserID, "--agent", "claude"}, 0, []fields{{[]any{"data"}, "session warnings"}, {[]any{"data", "session"}, sessionFields}}},
		{"resume-plan", []string{"resume-plan", parserID, "--agent", "claude"}, 0, []fields{
			{[]any{"data"}, "executed plan requires_user_action warnings"}, {[]any{"data", "plan"}, planFields},
		}},
		{"resume-plan-missing", []string{"resume-plan", goneID, "--agent", "claude", "--mode", "acceptEdits"}, 0, []fields{{[]any{"data", "plan"}, planFields}}},
		{"capabilities", []string{"capabilities", "--agent", "claude", "--project", "app"}, 0, []fields{
			{[]any{"data"}, "content_trust launches_agents limits mcp operations pagination_consistency providers read_only scope writes_agent_stores"},
			{[]any{"data", "providers", 0}, "command id installed name program resume_modes version_probe"},
		}},
		{"scan-failed", []string{"search", "--agent", "opencode"}, 1, nil},
		{"not-found", []string{"show", "absent", "--agent", "claude"}, 1, []fields{{[]any{"error"}, "code message"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := p.run(test.args...)
			if code != test.code || (code == 0) != (stderr == "") {
				t.Errorf("agf %q exited with %d and said %q, want %d", test.args, code, stderr, test.code)
			}
			var envelope any
			if err := json.Unmarshal([]byte(stdout), &envelope); err != nil || strings.Count(stdout, "\n") != 1 {
				t.Fatalf("agf %q answers %q, want one line of JSON: %v", test.args, stdout, err)
			}
			outer := "agf_version data ok schema_version"
			if code != 0 {
				outer = "agf_version error ok schema_version"
			}
			for _, f := range append(test.want, fields{nil, outer}) {
				if got := keys(t, at(t, envelope, f.path...)); got != f.want {
					t.Errorf("%v has the fields %q, want %q", f.path, got, f.want)
				}
			}
			if outer, ok := envelope.(map[string]any); ok && outer["agf_version"] == version {
				outer["agf_version"] = "VERSION" // So that a release changes no recorded answer.
			}
			pretty, err := json.MarshalIndent(envelope, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			testkit.Golden(t, filepath.Join("testdata", "contract", test.name+".json"), append(pretty, '\n'))
		})
	}
}

// TestNothingIsWritten holds that the JSON commands and the MCP server leave no trace: not in a store, not in a cache, not in the working folder.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	before, err := listing(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"search", "--include-summaries", "--include-non-interactive", "--include-archived", "--details"},
		{"search", "zebra", "--content"},
		{"show", parserID, "--agent", "claude"},
		{"resume-plan", goneID, "--agent", "claude"},
		{"read", parserID, "--agent", "claude"},
		{"capabilities", "--details"},
		{"doctor"},
		{"doctor", "--json"},
		{"list", "--no-cache"},
		{"__complete", "show", "--agent", "claude", ""},
	} {
		if _, stderr, code := p.run(args...); code != 0 {
			t.Errorf("agf %q exited with %d: %s", args, code, stderr)
		}
	}
	s := p.serve("mcp", "--extended")
	s.greet("")
	for _, tool := range []string{"agf_search_sessions", "agf_capabilities"} {
		s.call(tool, "{}")
	}
	s.end(0)
	after, err := listing(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	if after != before {
		t.Errorf("something has changed; before:\n%s\nafter:\n%s", before, after)
	}
}

// goneWriter is an output that nobody reads any more.
type goneWriter struct{}

func (goneWriter) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestBrokenPipe holds that a reader that goes away ends a command without a word.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	var stderr strings.Builder
	code := run(t.Context(), program{args: []string{"capabilities", "--agent", "claude"}, stdin: strings.NewReader(""), stdout: goneWriter{}, stderr: &stderr, getenv: func(string) string { return "" }})
	if code != agfcmd.ExitBrokenPipe || stderr.Len() > 0 {
		t.Errorf("run = %d, and it said %q, want %d and nothing", code, stderr.String(), agfcmd.ExitBrokenPipe)
	}
}

// TestInterrupted holds that an ended context ends a command without an answer.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("a signal"))
	for _, args := range [][]string{{"search"}, {"show", "x", "--agent", "claude"}, {"list", "--no-cache"}, {"doctor"}, {"doctor", "--json"}, {"read", "x", "--agent", "claude", "--text"}} {
		var stdout, stderr strings.Builder
		code := run(ctx, program{args: args, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, getenv: func(string) string { return "" }})
		if code != agfcmd.ExitInterrupted || stdout.Len() > 0 || stderr.String() != "agf: interrupted\n" {
			t.Errorf("agf %q = %d, stdout %q, stderr %q, want %d and a word on stderr alone", args, code, stdout.String(), stderr.String(), agfcmd.ExitInterrupted)
		}
	}
}

func TestExitCodesAreDocumented(t *testing.T) {
	t.Parallel()
	stdout, _, _ := newPlace(t).run("help", "exit-codes")
	for _, code := range []string{"0 ", "1 ", "2 ", "130 ", "141 "} {
		if !strings.Contains("\n"+stdout, "\n"+code) {
			t.Errorf("the help does not tell of exit code %s", code)
		}
	}
}
