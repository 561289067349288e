package process

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func collect(maxBytes int, writes ...string) []string {
	var got []string
	l := NewLines(maxBytes, func(line Line) {
		text := string(line.Text)
		if line.Cut > 0 {
			text += "+" + strings.Repeat("!", line.Cut)
		}
		got = append(got, text)
	})
	for _, w := range writes {
		_, _ = l.Write([]byte(w))
	}
	_ = l.Flush()
	_ = l.Flush() // A second flush passes nothing on.
	return got
}

func TestLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		max    int
		writes []string
		want   []string
	}{
		{name: "nothing"},
		{name: "whole", writes: []string{"a\nb\n"}, want: []string{"a", "b"}},
		{name: "no line end at the end", writes: []string{"a\nb"}, want: []string{"a", "b"}},
		{name: "empty lines", writes: []string{"\n\n"}, want: []string{"", ""}},
		{name: "carriage returns", writes: []string{"a\r\n\r\nb\rc\r", "\n"}, want: []string{"a", "", "b\rc"}},
		{name: "in pieces", writes: []string{"a", "b", "\nc"}, want: []string{"ab", "c"}},
		{name: "cut", max: 3, writes: []string{"abcde", "f\ngh\n"}, want: []string{"abc+!!!", "gh"}},
		{name: "exact", max: 3, writes: []string{"abc\n"}, want: []string{"abc"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := collect(tt.max, tt.writes...); !slices.Equal(got, tt.want) {
				t.Errorf("lines = %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzLines compares with splitting all at once.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\nc"), uint8(1))
	f.Add([]byte("\n"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		var got [][]byte
		l := NewLines(len(data)+1, func(line Line) { got = append(got, bytes.Clone(line.Text)) })
		for chunk := range slices.Chunk(data, 1+int(step)) {
			_, _ = l.Write(chunk)
		}
		_ = l.Flush()
		want := bytes.Split(data, []byte("\n"))
		if len(want[len(want)-1]) == 0 {
			want = want[:len(want)-1]
		}
		for i := range want {
			want[i] = bytes.TrimSuffix(want[i], []byte("\r"))
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("lines = %q, want %q", got, want)
		}
	})
}
