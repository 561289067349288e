package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

func TestEnds(t *testing.T) {
	t.Parallel()
	var content strings.Builder
	for i := range 100 {
		fmt.Fprintf(&content, "line %02d\n", i) // Eight bytes each.
	}
	for _, tt := range []struct {
		name       string
		windows    transcript.Windows
		enough     int // lines of the head
		dated      string
		whole      bool
		head, tail int
		last       string // that the tail sees
	}{
		{"a small file is read whole", transcript.Windows{Whole: 800, Head: 16, Tail: 16, TailMax: 16}, 1, "", true, 100, 0, ""},
		{"the head ends when enough is known", transcript.Windows{Whole: 799, Head: 400, Tail: 40, TailMax: 80}, 3, "line 95", false, 3, 5, "line 95"},
		{"the head ends with its window", transcript.Windows{Whole: 1, Head: 40, Tail: 16, TailMax: 80}, 100, "line 98", false, 5, 2, "line 98"},
		{"the tail grows until there is a time", transcript.Windows{Whole: 1, Head: 8, Tail: 16, TailMax: 800}, 1, "line 90", false, 1, 2 + 10, "line 90"},
		{"a tail of one size ends as soon as it tells", transcript.Windows{Whole: 1, Head: 8, Tail: 40, TailMax: 40}, 1, "line 98", false, 1, 2, "line 98"},
		{"a tail of one size is read once", transcript.Windows{Whole: 1, Head: 8, Tail: 16, TailMax: 16}, 1, "line 90", false, 1, 2, "line 98"},
		{"the tail ends with its window", transcript.Windows{Whole: 1, Head: 8, Tail: 16, TailMax: 40}, 1, "line 90", false, 1, 2 + 5, "line 95"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.jsonl")
			if err := os.WriteFile(path, []byte(content.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := bounded.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			var head, tail int
			var last string
			dated := false
			whole, err := transcript.Ends(f, tt.windows, func(bounded.Line) bool {
				head++
				return head >= tt.enough
			}, func(line bounded.Line) bool {
				tail++
				last = string(line.Data)
				dated = dated || last == tt.dated
				return dated
			})
			if err != nil || whole != tt.whole || head != tt.head || tail != tt.tail || last != tt.last {
				t.Errorf("Ends = %v, %v after %d lines of the head, %d of the tail, and %q; want %v, %d, %d, %q", whole, err, head, tail, last, tt.whole, tt.head, tt.tail, tt.last)
			}
		})
	}
}

func value(text string) bounded.Value { return bounded.Value{Raw: []byte(text)} }

func TestTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, got, want string }{
		{"typed", transcript.Typed("  Hello ", "<context>"), "Hello"},
		{"by the program", transcript.Typed(" <context>x</context>", "<context>"), ""},
		{"text of a string", transcript.Text(value(`"a\nb"`), 100), "a\nb"},
		{"text of blocks", transcript.Text(value(`[{"type":"text","text":"a"},{"type":"thinking","text":"hidden"},7,{"text":"b","type":"text"}]`), 100), "a\nb"},
		{"text has a limit", transcript.Text(value(`[{"type":"text","text":"abcdef"},{"type":"text","text":"g"}]`), 4), "abcd"},
		{"text of something else", transcript.Text(value(`{"text":"a"}`), 100), ""},
		{"call", transcript.Call(value(`"ls"`), value(`{"path":"."}`)), `ls {"path":"."}`},
		{"call with a text", transcript.Call(value(`"patch"`), value(`"*** Begin"`)), `patch *** Begin`},
		{"call of nothing", transcript.Call(bounded.Value{}, bounded.Value{}), ""},
		{"raw has a limit", transcript.Raw(value(`{"aé":1}`), 4), `{"a`},
		{"prompts", strings.Join(transcript.Prompts("", "a", "b", "a", ""), ","), "a,b"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, newest := range []bool{false, true} {
		var got []string
		var last error
		read := func() ([]catalog.Record, error) {
			return []catalog.Record{{Text: "a"}, {}, {Text: "b"}}, broken
		}
		for rec, err := range transcript.Records(t.Context(), catalog.ContentRequest{NewestFirst: newest}, read) {
			if last = err; err == nil {
				got = append(got, rec.Text)
			}
		}
		want := []string{"a", "b"}
		if newest {
			slices.Reverse(want)
		}
		if diff := cmp.Diff(want, got); diff != "" || !errors.Is(last, broken) {
			t.Errorf("Records, newest first %v, ends with %v (-want +got):\n%s", newest, last, diff)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range transcript.Records(ctx, catalog.ContentRequest{}, func() ([]catalog.Record, error) { return []catalog.Record{{Text: "a"}}, nil }) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Records with a cancelled context gives %v", err)
		}
	}
}
