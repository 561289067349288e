package screen_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"agentd/cmd/internal/screen"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, want string }{
		{"plain", "hällo\tw\u00f6rld\n", "hällo\tw\u00f6rld\n"},
		{"emoji with a joiner", "👩\u200d💻", "👩\u200d💻"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"private parameters", "\x1b[?25lhidden\x1b[?1049h", "hidden"},
		{"title with bell", "\x1b]0;owned\aafter", "after"},
		{"title with terminator", "\x1b]2;owned\x1b\\after", "after"},
		{"clipboard", "\x1b]52;c;cm0gLXJm\aafter", "after"},
		{"link", "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"device control", "\x1bP1$r0m\x1b\\after", "after"},
		{"reset", "\x1bcafter", "after"},
		{"character set", "\x1b(0after", "after"},
		{"unended title hides nothing", "\x1b]0;all of this stays", "]0;all of this stays"},
		{"title ends with its line", "\x1b]0;one\ntwo\a", "]0;one\ntwo"},
		{"unended parameters", "\x1b[12;", "[12;"},
		{"C1 introducer", "\u009b31mred", "red"},
		{"C1 title", "\u009d0;owned\u009cafter", "after"},
		{"stray C1", "a\u0085b", "ab"},
		{"raw C1 byte", "a\x9b31mb", "a\ufffd31mb"},
		{"control characters", "a\x00\x07\x08b\x7fc", "abc"},
		{"other systems' lines", "a\r\nb", "a\nb"},
		{"carriage return does not overprint", "rm -rf /\rls", "rm -rf /\nls"},
		{"bidirectional override", "a\u202egnp.exe", "agnp.exe"},
		{"isolate", "\u2066a\u2069", "a"},
		{"tag characters", "a\U000e0041b", "ab"},
		{"zero width", "a\u200bb\ufeff", "ab"},
		{"invalid bytes", "a\xffb", "a\ufffdb"},
		{"escape at the end", "a\x1b", "a"},
		{"escape inside an escape", "\x1b[\x1b[31m31mred", "[31mred"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, screen.Clean(test.in)); diff != "" {
				t.Errorf("Clean(%q) (-want +got):\n%s", test.in, diff)
			}
		})
	}
}

func TestCleanLine(t *testing.T) {
	t.Parallel()
	if got := screen.CleanLine("a\r\nb\tc\x1b[2Jd\re"); got != "a b cd e" {
		t.Errorf("CleanLine = %q, want one line", got)
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "a\x1b[31mb", "\x1b]0;t\a", "\u009b1m", "\xff\x1b", "\u202e", "a\rb", strings.Repeat("\x1b]", 3)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := screen.Clean(in)
		if !utf8.ValidString(got) {
			t.Errorf("Clean(%q) = %q, which is not valid UTF-8", in, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || r >= 0x202a && r <= 0x202e {
				t.Errorf("Clean(%q) = %q, which holds %U", in, got, r)
			}
		}
		if again := screen.Clean(got); again != got {
			t.Errorf("Clean(Clean(%q)) = %q, want %q", in, again, got)
		}
		if line := screen.CleanLine(in); strings.ContainsAny(line, "\n\t\r") {
			t.Errorf("CleanLine(%q) = %q, which is more than a line", in, line)
		}
	})
}
