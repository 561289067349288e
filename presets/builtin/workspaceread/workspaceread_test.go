package workspaceread_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/builtin/bundletest"
	"agentd/presets/builtin/workspaceread"
)

const (
	list   = "space_workspace_list"
	read   = "space_workspace_read"
	search = "space_workspace_search"
)

// setup returns a bench whose workspace holds the files.
func setup(tb testing.TB, files map[string]string) *bundletest.Bench {
	tb.Helper()
	bench := bundletest.New(tb, workspaceread.New())
	for name, text := range files {
		path := filepath.Join(bench.WorkspaceRoot, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return bench
}

func paths(answer map[string]any, key string) []string {
	out := []string{}
	for _, entry := range answer[key].([]any) {
		fields := entry.(map[string]any)
		text := fields["path"].(string)
		if line, has := fields["line"]; has {
			text += fmt.Sprintf(":%v:%v", line, fields["text"])
		}
		out = append(out, text)
	}
	return out
}

func TestList(t *testing.T) {
	t.Parallel()
	bench := setup(t, map[string]string{"b.txt": "12", "a/x.txt": "", "a/deep/y.txt": "", ".git/config": "", "c/z": ""})
	for _, test := range []struct {
		name, arguments string
		want            []string
		truncated       bool
	}{
		{"the workspace", `{}`, []string{".git", "a", "b.txt", "c"}, false},
		{"a dot", `{"path":"."}`, []string{".git", "a", "b.txt", "c"}, false},
		{"a folder", `{"path":"a"}`, []string{"a/deep", "a/x.txt"}, false},
		{"deeper", `{"path":"a","depth":2}`, []string{"a/deep", "a/deep/y.txt", "a/x.txt"}, false},
		{"without the store of version control", `{"depth":3}`, []string{".git", "a", "a/deep", "a/deep/y.txt", "a/x.txt", "b.txt", "c", "c/z"}, false},
		{"that store by its path", `{"path":".git"}`, []string{".git/config"}, false},
		{"limited", `{"limit":2}`, []string{".git", "a"}, true},
		{"dots inside", `{"path":"a/../c"}`, []string{"c/z"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			answer := bench.Good(list, test.arguments)
			if diff := cmp.Diff(test.want, paths(answer, "entries")); diff != "" || answer["truncated"] != test.truncated {
				t.Errorf("entries (-want +got), truncated %v:\n%s", answer["truncated"], diff)
			}
			if test.truncated && answer["note"] == nil {
				t.Error("it is cut, and no note says so")
			}
		})
	}
	absolute, err := json.Marshal(map[string]string{"path": filepath.Join(bench.WorkspaceRoot, "c")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c/z"}, paths(bench.Good(list, string(absolute)), "entries")); diff != "" {
		t.Errorf("an absolute path inside (-want +got):\n%s", diff)
	}
	for _, entry := range bench.Good(list, `{}`)["entries"].([]any) {
		if fields := entry.(map[string]any); fields["path"] == "b.txt" && (fields["type"] != "file" || fields["size"] != 2.0) {
			t.Errorf("entry = %v", fields)
		}
	}
	bench.Bad(list, `{"path":"b.txt"}`, "no folder")
	bench.Bad(list, `{"path":"nope"}`, "no such file")
}

func TestRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70_000)
	bench := setup(t, map[string]string{
		"three": "one\ntwo\nthree\n", "no end": "one\ntwo", "crlf": "one\r\ntwo\r\n", "empty": "", "binary": "ab\x00cd",
		"latin": "caf\xe9 and a good deal of plain text beside it\n", "long": "short\n" + long + "\nend\n", "many": strings.Repeat("0123456789\n", 10_000),
		"control": strings.Repeat("\x01", 60_000) + "\n",
	})
	type want struct {
		Text       string
		Start, End int
		Total      int
		Cut        bool
	}
	for _, test := range []struct {
		name, arguments string
		want            want
	}{
		{"all", `{"path":"three"}`, want{"one\ntwo\nthree\n", 1, 3, 3, false}},
		{"one line", `{"path":"three","start_line":2,"end_line":2}`, want{"two\n", 2, 2, 0, false}},
		{"from", `{"path":"three","start_line":3}`, want{"three\n", 3, 3, 3, false}},
		{"to", `{"path":"three","end_line":1}`, want{"one\n", 1, 1, 0, false}},
		{"beyond the end", `{"path":"three","start_line":2,"end_line":99}`, want{"two\nthree\n", 2, 3, 3, false}},
		{"without a last line break", `{"path":"no end"}`, want{"one\ntwo\n", 1, 2, 2, false}},
		{"with carriage returns", `{"path":"crlf"}`, want{"one\ntwo\n", 1, 2, 2, false}},
		{"empty", `{"path":"empty"}`, want{"", 0, 0, 0, false}},
		{"not UTF-8", `{"path":"latin"}`, want{"caf\uFFFD and a good deal of plain text beside it\n", 1, 1, 1, false}},
		{"cut at a line", `{"path":"three","max_bytes":9}`, want{"one\ntwo\n", 1, 2, 0, true}},
		{"not one line fits", `{"path":"three","max_bytes":3,"start_line":3}`, want{"th\n", 3, 3, 0, true}},
		{"a long line among others", `{"path":"long","start_line":3}`, want{"end\n", 3, 3, 3, false}},
		{"a long line", `{"path":"long","start_line":2,"end_line":2,"max_bytes":98304}`, want{long[:65536] + "\n", 2, 2, 0, true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := bench.Call(t.Context(), read, test.arguments)
			var got struct {
				Text      string `json:"text"`
				Start     int    `json:"start_line"`
				End       int    `json:"end_line"`
				Total     int    `json:"total_lines"`
				Truncated bool   `json:"truncated"`
				Note      string `json:"note"`
			}
			if err := json.Unmarshal([]byte(result.Text), &got); err != nil || result.IsError {
				t.Fatalf("result = %s, %v", result.Text, err)
			}
			if diff := cmp.Diff(test.want, want{got.Text, got.Start, got.End, got.Total, got.Truncated}); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if got.Truncated != (got.Note != "") {
				t.Errorf("truncated %t, note %q", got.Truncated, got.Note)
			}
		})
	}
	if got := bench.Good(read, `{"path":"binary"}`); got["binary"] != true || got["text"] != "" || got["size"] != 5.0 {
		t.Errorf("a binary file = %v", got)
	}
	if got := bench.Good(read, `{"path":"many"}`); got["truncated"] != true || got["note"] != `More lines follow; go on with "start_line": 4469.` {
		t.Errorf("many lines: %v, %v", got["truncated"], got["note"])
	}
	if result := bench.Call(t.Context(), read, `{"path":"control"}`); result.CutBytes > 0 || !json.Valid([]byte(result.Text)) {
		t.Errorf("control characters: %d bytes, %d cut", len(result.Text), result.CutBytes)
	}
	bench.Bad(read, `{"path":"three","start_line":4}`, "3 lines")
	bench.Bad(read, `{"path":"three","start_line":3,"end_line":2}`, "before")
	bench.Bad(read, `{"path":"."}`, "folder")
	bench.Bad(read, `{"path":"nope"}`, "nope")
}

func TestSearch(t *testing.T) {
	t.Parallel()
	bench := setup(t, map[string]string{
		"a.go": "func main() {\n\tfmt.Println(\"x.y\")\n}\n", "sub/b.go": "// Main thing\nxzy\n", "c.txt": "main\n",
		".git/x": "main\n", "binary": "main\x00", "long": strings.Repeat("é", 500) + "needle" + strings.Repeat("é", 500) + "\n",
	})
	for _, test := range []struct {
		name, arguments string
		want            []string
	}{
		{"text", `{"pattern":"main"}`, []string{"a.go:1:func main() {", "c.txt:1:main"}},
		{"a text with signs of expressions", `{"pattern":"x.y"}`, []string{"a.go:2:\tfmt.Println(\"x.y\")"}},
		{"expression", `{"pattern":"x.y","regexp":true}`, []string{"a.go:2:\tfmt.Println(\"x.y\")", "sub/b.go:2:xzy"}},
		{"any case", `{"pattern":"MAIN","ignore_case":true}`, []string{"a.go:1:func main() {", "c.txt:1:main", "sub/b.go:1:// Main thing"}},
		{"files", `{"pattern":"main","ignore_case":true,"files":"*.go"}`, []string{"a.go:1:func main() {", "sub/b.go:1:// Main thing"}},
		{"path", `{"pattern":"x","path":"sub"}`, []string{"sub/b.go:2:xzy"}},
		{"one file", `{"pattern":"main","path":"c.txt"}`, []string{"c.txt:1:main"}},
		{"nothing", `{"pattern":"no such text"}`, []string{}},
		{"begin and end", `{"pattern":"^main$","regexp":true}`, []string{"c.txt:1:main"}},
		{"a long line", `{"pattern":"needle"}`, []string{"long:1:…" + strings.Repeat("é", 100) + "needle" + strings.Repeat("é", 194) + "…"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			answer := bench.Good(search, test.arguments)
			if diff := cmp.Diff(test.want, paths(answer, "matches")); diff != "" || answer["truncated"] != false {
				t.Errorf("matches (-want +got), truncated %v:\n%s", answer["truncated"], diff)
			}
		})
	}
	if got := bench.Good(search, `{"pattern":"main"}`)["skipped_binary"]; got != 1.0 {
		t.Errorf("skipped_binary = %v, want 1", got)
	}
	if got := bench.Good(search, `{"pattern":"main","limit":1}`); got["truncated"] != true || len(got["matches"].([]any)) != 1 || got["note"] == nil {
		t.Errorf("limited = %v", got)
	}
	bench.Bad(search, `{"pattern":"(","regexp":true}`, "pattern")
	bench.Bad(search, `{"pattern":"x","files":"["}`, "files")
	bench.Bad(search, `{"pattern":""}`, "invalid arguments")
	bench.Bad(search, `{"pattern":"x","path":"nope"}`, "nope")
}

// Answers of much too much stay whole JSON, within the bounds.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{"lines": strings.Repeat(strings.Repeat("\x01", 290)+"\n", 2000)}
	for i := range 1200 {
		files[fmt.Sprintf("dir/%s%04d", strings.Repeat("\x02", 200), i)] = ""
	}
	bench := setup(t, files)
	for tool, arguments := range map[string]string{
		search: `{"pattern":"\u0001","path":"lines","limit":1000}`, list: `{"path":"dir","limit":1000}`, read: `{"path":"lines","max_bytes":98304}`,
	} {
		result := bench.Call(t.Context(), tool, arguments)
		if result.IsError || result.CutBytes > 0 || !json.Valid([]byte(result.Text)) || !strings.Contains(result.Text, `"truncated":true`) {
			t.Errorf("%s: %d bytes, %d cut, error %t", tool, len(result.Text), result.CutBytes, result.IsError)
		}
	}
}

// Nothing outside of the workspace is seen.
func TestContainment(t *testing.T) {
	t.Parallel()
	bench := setup(t, map[string]string{"in/file": "inside\n"})
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(bench.WorkspaceRoot, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(outside, "absolute")
	link(filepath.Dir(outside), "folder")
	relative, err := filepath.Rel(bench.WorkspaceRoot, outside)
	if err != nil {
		t.Fatal(err)
	}
	link(relative, "relative")
	link("relative", "twice")
	link("in/file", "good")
	link("loop", "loop")
	for _, path := range []string{"..", "../" + filepath.Base(bench.WorkspaceRoot), outside, "/etc/passwd", "absolute", "relative", "twice", "folder/secret", "folder", "in/../../x", "a\x00b", "loop", strings.Repeat("x/", 3000)} {
		arguments, err := json.Marshal(map[string]string{"path": path, "pattern": "secret"})
		if err != nil {
			t.Fatal(err)
		}
		only := strings.Replace(string(arguments), `,"pattern":"secret"`, "", 1)
		for tool, text := range map[string]string{list: only, read: only, search: string(arguments)} {
			if result := bench.Call(t.Context(), tool, text); !result.IsError || strings.Contains(result.Text, "secret\\n") {
				t.Errorf("%s %s = %s", tool, text, result.Text)
			}
		}
	}
	if got := bench.Good(search, `{"pattern":"secret"}`); len(got["matches"].([]any)) != 0 {
		t.Errorf("a search followed a link out of the workspace: %v", got)
	}
	if got := bench.Good(read, `{"path":"good"}`)["text"]; got != "inside\n" {
		t.Errorf("a link inside the workspace = %v", got)
	}
	bench.WorkspaceRoot = ""
	bench.Bad(list, `{}`, "no folder is configured")
	bench.WorkspaceRoot = filepath.Join(t.TempDir(), "gone")
	bench.Bad(read, `{"path":"x"}`, "workspace")
}

func TestCancelledSearch(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprint("f", i)] = "text\n"
	}
	bench := setup(t, files)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if result := bench.Call(ctx, search, `{"pattern":"text"}`); result.Status != messages.CallCancelled {
		t.Errorf("a cancelled search = %+v", result)
	}
	// The tool itself, cancelled in the middle: an error, not a short answer.
	adapter := workspaceread.New().Adapters[2]
	run, err := adapter.Make(presets.Env{WorkspaceRoot: bench.WorkspaceRoot})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := run(ctx, json.RawMessage(`{"pattern":"text"}`)); err == nil {
		t.Errorf("a search with an ended context = %+v", result)
	}
}

func BenchmarkSearch(b *testing.B) {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("d%d/f%d.txt", i%10, i)] = strings.Repeat("a line of text that holds nothing\n", 300)
	}
	bench := setup(b, files)
	b.SetBytes(100 * 300 * 34)
	for b.Loop() {
		bench.Good(search, `{"pattern":"something"}`)
	}
}
