package local

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, input, tool, arguments string }{
		{"the seed's example", "draw a red circle", toolDraw, `{"shape":"circle","color":"#ff0000"}`},
		{"words in any order", "draw circle blue", toolDraw, `{"shape":"circle","color":"#0000ff"}`},
		{"place and size", "Draw a #00ff00 rectangle at 40,-6.5 size 20", toolDraw, `{"shape":"rectangle","color":"#00ff00","x":40,"y":-6.5,"size":20}`},
		{"no colour", "draw a line", toolDraw, `{"shape":"line"}`},
		{"list", "list", toolList, `{}`},
		{"list a folder", "list a b", toolList, `{"path":"a b"}`},
		{"read", "read go.mod", toolRead, `{"path":"go.mod"}`},
		{"search", "search two words", toolSearch, `{"pattern":"two words"}`},
		{"write", "write a.txt hello there", toolWrite, `{"content":"hello there\n","path":"a.txt"}`},
		{"delete", "delete a.txt", toolDelete, `{"path":"a.txt"}`},
		{"run", "run echo 'a  b'", toolRun, `{"command":"echo 'a  b'"}`},
		{"call", `call space_x {"a": 1}`, "space_x", `{"a": 1}`},
		{"call without arguments", "call space_x", "space_x", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(tt.input)
			if err != nil || len(got) != 1 || got[0].tool != tt.tool || string(got[0].arguments) != tt.arguments {
				t.Errorf("parse(%q) = %+v, %v, want %s %s", tt.input, got, err, tt.tool, tt.arguments)
			}
		})
	}
}

func TestParseSeveral(t *testing.T) {
	t.Parallel()
	got, err := parse("say one then say two\n\nshapes\n")
	if err != nil || len(got) != 3 || got[0].say != "one" || got[1].say != "two" || got[2].tool != toolShapes {
		t.Errorf("parse = %+v, %v, want three commands", got, err)
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, input, want string }{
		{"unknown", "make coffee", "help"},
		{"nothing to draw", "draw", "draw a red circle"},
		{"two shapes", "draw a circle square", "square"},
		{"no place", "draw a circle at", "at 40,60"},
		{"bad size", "draw a circle size huge", "huge"},
		{"no file", "read", "read FILE"},
		{"no text", "write a.txt", "write FILE TEXT"},
		{"bad pause", "wait long", "wait 10s"},
		{"endless pause", "wait 9000h", "at most"},
		{"too much", "shapes now", "now"},
		{"second of two", "say hi then dance", "dance"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(tt.input)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("parse(%q) = %v, want %q", tt.input, err, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"draw a red circle at 1,2", "run x then wait 1s", "call a {", "\x00 then \xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		commands, err := parse(input)
		if err != nil {
			return
		}
		for _, c := range commands {
			if c.tool == "" && c.say == "" && c.pause == 0 && !c.tools && !strings.HasPrefix(strings.ToLower(c.text), "wait") {
				t.Fatalf("parse(%q) gives a command that does nothing: %+v", input, c)
			}
		}
	})
}
