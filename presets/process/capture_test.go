package process

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCapture(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		max    int
		writes []string
		want   string
		cut    int64
	}{
		{name: "empty", max: 10, want: ""},
		{name: "fits", max: 10, writes: []string{"01234", "56789"}, want: "0123456789"},
		{name: "one too many", max: 10, writes: []string{"01234", "56789", "a"}, want: "01234\n[... 1 bytes left out ...]\n6789a", cut: 1},
		{name: "one write over all", max: 4, writes: []string{"abcdefgh"}, want: "ab\n[... 4 bytes left out ...]\ngh", cut: 4},
		{name: "byte by byte", max: 4, writes: strings.Split("abcdefgh", ""), want: "ab\n[... 4 bytes left out ...]\ngh", cut: 4},
		{name: "limit too small", max: -5, writes: []string{"abc"}, want: "a\n[... 1 bytes left out ...]\nc", cut: 1},
		{name: "cut rune", max: 4, writes: []string{"aééééé"}, want: "a\uFFFD\n[... 7 bytes left out ...]\né", cut: 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := NewCapture(tt.max)
			for _, w := range tt.writes {
				if n, err := c.Write([]byte(w)); n != len(w) || err != nil {
					t.Errorf("Write(%q) = %d, %v", w, n, err)
				}
			}
			if got := c.String(); got != tt.want {
				t.Errorf("String() = %q, want %q", got, tt.want)
			}
			if got := c.Cut(); got != tt.cut {
				t.Errorf("Cut() = %d, want %d", got, tt.cut)
			}
		})
	}
}

// FuzzCapture compares the ring with keeping everything.
func FuzzCapture(f *testing.F) {
	f.Add([]byte("hello world"), 3, 4)
	f.Add([]byte("\xff\x00é"), 1, 2)
	f.Fuzz(func(t *testing.T, data []byte, step, size int) {
		step, size = 1+abs(step)%50, 2+abs(size)%100
		c := NewCapture(size)
		for rest := data; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			_, _ = c.Write(rest[:min(step, len(rest))])
		}
		want := string(data)
		if over := len(data) - size; over > 0 {
			head := size / 2
			want = string(data[:head]) + fmt.Sprintf("\n[... %d bytes left out ...]\n", over) + string(data[head+over:])
		}
		want = strings.ToValidUTF8(want, "\uFFFD")
		if got := c.String(); got != want || !utf8.ValidString(got) || c.Total() != int64(len(data)) {
			t.Errorf("String() = %q of %d, want %q of %d", got, c.Total(), want, len(data))
		}
	})
}

func abs(n int) int { return int(uint32(n) >> 1) }
