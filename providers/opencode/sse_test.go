package opencode

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestSSEReader(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	tests := []struct {
		name, stream string
		want         []string
	}{
		{name: "nothing"},
		{name: "one", stream: "data: a\n\n", want: []string{"a"}},
		{name: "without a space", stream: "data:a\n\n", want: []string{"a"}},
		{name: "several lines", stream: "data: a\ndata: b\n\n", want: []string{"a\nb"}},
		{name: "empty data", stream: "data\n\ndata:\n\n", want: []string{"", ""}},
		{name: "windows line ends", stream: "data: a\r\n\r\ndata: b\r\n\r\n", want: []string{"a", "b"}},
		{name: "other fields and comments", stream: ": hi\nevent: e\nid: 1\ndatax: no\ndata: a\nretry: 5\n\n\n\n", want: []string{"a"}},
		{name: "cut short", stream: "data: a\n\ndata: b\n", want: []string{"a"}},
		{name: "as large as allowed", stream: "data: " + long[:50] + "\n\n", want: []string{long[:50]}},
		{name: "too large", stream: "data: " + long[:51] + "\n\ndata: b\n\n", want: []string{"TOO LARGE", "b"}},
		{name: "too large in several lines", stream: "data: " + long[:30] + "\ndata: " + long[:30] + "\n\ndata: b\n\n", want: []string{"TOO LARGE", "b"}},
		{name: "larger than the buffer", stream: "data: " + strings.Repeat(long, 1000) + "\n\ndata: b\n\n", want: []string{"TOO LARGE", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []io.Reader{strings.NewReader(tt.stream), iotest.OneByteReader(strings.NewReader(tt.stream))} {
				reader := newSSEReader(in, 50)
				var got []string
				for {
					data, err := reader.next()
					if errors.Is(err, errEventTooLarge) {
						data, err = "TOO LARGE", nil
					}
					if err != nil {
						break
					}
					got = append(got, data)
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("events = %.100q, want %q", got, tt.want)
				}
			}
		})
	}
}
