package local

import "testing"

func TestInWords(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, result, want string }{
		{"a file", `{"ok":true,"path":"a","text":"one\ntwo\n"}`, "one\ntwo"},
		{"an empty file", `{"ok":true,"path":"a","text":""}`, "It is empty."},
		{"a cut file", `{"ok":true,"path":"a","text":"one","truncated":true}`, "one\n(there is more)"},
		{"a folder", `{"path":".","entries":[{"path":"a","type":"file"},{"path":"b","type":"directory"}]}`, "a\nb/"},
		{"an empty folder", `{"path":".","entries":[]}`, "The folder is empty."},
		{"matches", `{"matches":[{"path":"a","line":3,"text":"x y"}]}`, "a:3: x y"},
		{"no match", `{"matches":[]}`, "Nothing matches."},
		{"a command", `{"exit_code":0,"output":"hi\n"}`, "hi"},
		{"a silent command", `{"exit_code":0,"output":""}`, "Done, and it said nothing."},
		{"a failed command", `{"exit_code":2,"output":"no\n"}`, "no\n(exit code 2)"},
		{"shapes", `{"shapes":[{"id":"shape-1","shape":"circle","color":"#f00"}]}`, "shape-1: #f00 circle"},
		{"a written file", `{"ok":true,"path":"a","bytes":1}`, "Done: a"},
		{"an export", `{"ok":true,"file":"/x/drawing.svg"}`, "It lies at /x/drawing.svg"},
		{"an error", `{"error":"unknown tool","ok":false}`, "unknown tool"},
		{"a refusal", `{"status":"denied","message":"nobody can be asked"}`, "nobody can be asked"},
		{"unknown JSON", `{"answer":42}`, `{"answer":42}`},
		{"no JSON", `plain`, `plain`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := inWords(tt.result); got != tt.want {
				t.Errorf("inWords(%s) = %q, want %q", tt.result, got, tt.want)
			}
		})
	}
}
