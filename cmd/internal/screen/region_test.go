package screen_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/cmd/internal/screen"
)

// terminal is just enough of one to see what a region leaves on it.
type terminal struct {
	rows   []string
	height int
	at     int
}

func (s *terminal) Write(data []byte) (int, error) {
	text := string(data)
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\x1b[J"):
			s.rows = s.rows[:min(s.at, len(s.rows))]
			text = text[3:]
		case strings.HasPrefix(text, "\x1b["):
			digits, rest, _ := strings.Cut(text[2:], "A")
			n, _ := strconv.Atoi(digits)
			s.at = max(s.at-n, len(s.rows)-s.height+1, 0)
			text = rest
		case text[0] == '\r':
			text = text[1:]
		default:
			row, rest, _ := strings.Cut(text, "\n")
			s.rows = append(s.rows[:min(s.at, len(s.rows))], row)
			s.at, text = s.at+1, rest
		}
	}
	return len(data), nil
}

func TestRegion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		updates [][]string
		want    []string
		whole   bool
	}{
		{"grows in its last row", [][]string{{"a"}, {"ab"}, {"ab", "c"}}, []string{"ab", "c"}, true},
		{"changes in the middle", [][]string{{"a", "b", "c"}, {"a", "x", "c"}}, []string{"a", "x", "c"}, true},
		{"shrinks", [][]string{{"a", "b", "c"}, {"a"}}, []string{"a"}, true},
		{"stays", [][]string{{"a", "b"}, {"a", "b"}}, []string{"a", "b"}, true},
		{"goes", [][]string{{"a", "b"}, {}}, []string{}, true},
		{"grows beyond the screen", [][]string{{"1", "2", "3", "4"}, {"1", "2", "3", "4", "5", "6"}}, []string{"1", "2", "3", "4", "5", "6"}, true},
		{"changes what has scrolled off", [][]string{{"1", "2", "3", "4", "5", "6"}, {"x", "2", "3", "4", "5", "y"}}, []string{"1", "2", "3", "4", "5", "y"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := &terminal{height: 4}
			region := screen.NewRegion(out)
			region.Resize(4)
			whole := true
			for _, rows := range test.updates {
				var err error
				if whole, err = region.Update(rows); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, out.rows); diff != "" {
				t.Errorf("the screen shows (-want +got):\n%s", diff)
			}
			if whole != test.whole {
				t.Errorf("Update = %v, want %v", whole, test.whole)
			}
		})
	}
}

func TestRegionWritesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	region := screen.NewRegion(&out)
	region.Resize(24)
	for _, rows := range [][]string{{"first row", "second"}, {"first row", "second row"}} {
		if _, err := region.Update(rows); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(out.String(), "first row"); n != 1 {
		t.Errorf("the row that stayed was written %d times, want 1", n)
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, in string
		width    int
		want     []string
	}{
		{"fits", "one two", 10, []string{"one two"}},
		{"at a space", "one two three", 8, []string{"one two", "three"}},
		{"a long word", "abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"wide characters", "日本語日本語", 6, []string{"日本語", "日本語"}},
		{"tabs", "a\tb", 10, []string{"a    b"}},
		{"empty", "", 10, []string{""}},
		{"no width", strings.Repeat("a ", 100), 0, []string{strings.Repeat("a ", 100)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := screen.Wrap(test.in, test.width)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Wrap(%q, %d) (-want +got):\n%s", test.in, test.width, diff)
			}
			for _, row := range got {
				if test.width > 0 && screen.Width(row) > test.width {
					t.Errorf("row %q is wider than %d", row, test.width)
				}
			}
		})
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := screen.Table(&out, screen.Styles{}, 20, []string{"ID", "TEXT"}, [][]string{{"a", "short"}, {"bb", "very long\x1b[31m and\nwild"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "ID  TEXT\na   short\nbb  very long and w…\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("Table (-want +got):\n%s", diff)
	}
}
