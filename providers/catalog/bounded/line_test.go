package bounded_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog/bounded"
)

func open(tb testing.TB, content []byte) *bounded.File {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "f")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	f, err := bounded.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.Close() })
	return f
}

// brief writes a line so that a test can compare it.
func brief(l bounded.Line) string {
	text := string(l.Data)
	if len(text) > 40 {
		text = fmt.Sprintf("%s…%d", text[:8], len(text))
	}
	if l.Torn {
		text += " (torn)"
	}
	return fmt.Sprintf("%d:%s", l.Offset, text)
}

func collect(tb testing.TB, seq func(func(bounded.Line, error) bool)) []string {
	tb.Helper()
	out := []string{}
	for line, err := range seq {
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, brief(line))
	}
	return out
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := `{"a":"` + strings.Repeat("x", 3<<20) + `"}`
	tests := []struct {
		name, content string
		want          []string // in order
	}{
		{"nothing", "", []string{}},
		{"only blanks", " \n\r\n\x00\x00\n", []string{}},
		{"two lines", "{1}\n{2}\n", []string{"0:{1}", "4:{2}"}},
		{"no last end", "{1}\n{2}", []string{"0:{1}", "4:{2}"}},
		{"torn last line", "{1}\n{2", []string{"0:{1}", "4:{2 (torn)"}},
		{"CRLF and blanks", "{1}\r\n\r\n  {2}  \r\n", []string{"0:{1}", "7:{2}"}},
		{"byte order mark", "\xef\xbb\xbf{1}\n{2}\n", []string{"0:{1}", "7:{2}"}},
		{"hole before a record", "\x00\x00\x00{1}\n{2}\n", []string{"0:{1}", "7:{2}"}},
		{"long line first", long + "\n{2}\n", []string{`0:{"a":"xx…1048576 (torn)`, fmt.Sprintf("%d:{2}", len(long)+1)}},
		{"long line between", "{1}\n" + long + "\n{2}\n", []string{"0:{1}", `4:{"a":"xx…1048576 (torn)`, fmt.Sprintf("%d:{2}", len(long)+5)}},
		{"long line last", "{1}\n" + long, []string{"0:{1}", `4:{"a":"xx…1048576 (torn)`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := open(t, []byte(tt.content))
			if diff := cmp.Diff(tt.want, collect(t, f.Head(1<<40))); diff != "" {
				t.Errorf("Head (-want +got):\n%s", diff)
			}
			backwards := collect(t, f.Tail(1<<40))
			slices.Reverse(backwards)
			if diff := cmp.Diff(tt.want, backwards); diff != "" {
				t.Errorf("Tail, reversed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, collect(t, bounded.Lines(strings.NewReader(tt.content), 1<<40))); diff != "" {
				t.Errorf("Lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	f := open(t, []byte("{1}\n{22}\n{333}\n"))
	tests := []struct {
		name string
		got  []string
		want []string
	}{
		{"head cut within a line", collect(t, f.Head(6)), []string{"0:{1}", "4:{2 (torn)"}},
		{"head cut at an end", collect(t, f.Head(4)), []string{"0:{1}"}},
		{"tail cut within a line", collect(t, f.Tail(8)), []string{"9:{333}"}},
		{"tail cut at a start", collect(t, f.Tail(6)), []string{"9:{333}"}},
		{"tail of nothing", collect(t, f.Tail(0)), []string{}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// FuzzLines checks that the three ways to read lines agree with one another and with the obvious way.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{1}\r\n\n{2}"), uint8(3))
	f.Add([]byte("\xef\xbb\xbfa\x00\n\x00\x00b"), uint8(0))
	f.Add([]byte("abc"), uint8(200))
	f.Fuzz(func(t *testing.T, content []byte, grow uint8) {
		// Longer than the steps of reading, so that lines lie across them.
		content = bytes.Repeat(content, 1+int(grow)*16)
		file := open(t, content)
		var want []string
		for _, l := range bytes.Split(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")), []byte("\n")) {
			if l = bytes.TrimFunc(l, func(r rune) bool { return r <= ' ' }); len(l) > 0 && len(l) < bounded.MaxLineBytes {
				want = append(want, string(l))
			}
		}
		texts := func(seq func(func(bounded.Line, error) bool)) (out []string) {
			for line, err := range seq {
				if err != nil {
					t.Fatal(err)
				}
				if len(line.Data) < bounded.MaxLineBytes {
					out = append(out, string(line.Data))
				}
			}
			return out
		}
		back := texts(file.Tail(1 << 40))
		slices.Reverse(back)
		for name, got := range map[string][]string{"Head": texts(file.Head(1 << 40)), "Tail": back, "Lines": texts(bounded.Lines(bytes.NewReader(content), 1<<40))} {
			if !slices.Equal(want, got) {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
	})
}
