package mcp

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A line is refused with the first byte that is too many, though the stream goes on and no line feed has come.
func TestLineReaderDoesNotWaitForTheEnd(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 4095, 4096, 4097, 65_536} {
		in, out := io.Pipe()
		go func() { _, _ = io.WriteString(out, strings.Repeat("a", limit+1)) }() // And the stream stays open.
		if _, err := newLineReader(in, limit).next(); !errors.Is(err, ErrLineTooLong) {
			t.Errorf("limit %d: next() = %v, want ErrLineTooLong", limit, err)
		}
		_ = in.Close()
	}
}

// The lines are the same however the stream is cut into reads.
func TestLineReaderCutsLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("b", 9000)
	stream := "one\n\n" + long + "\r\ntwo\nlast"
	for name, in := range map[string]io.Reader{
		"whole": strings.NewReader(stream), "bytes": iotest.OneByteReader(strings.NewReader(stream)), "halves": iotest.HalfReader(strings.NewReader(stream)),
		"with the end": iotest.DataErrReader(strings.NewReader(stream)),
	} {
		r := newLineReader(in, len(long)+1)
		for _, want := range []string{"one", "", long + "\r", "two", "last"} {
			if got, err := r.next(); err != nil || string(got) != want {
				t.Errorf("%s: next() = %.20q, %v, want %.20q", name, got, err, want)
			}
		}
		if _, err := r.next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: next() at the end = %v, want io.EOF", name, err)
		}
	}
	broken := errors.New("broken")
	if _, err := newLineReader(iotest.ErrReader(broken), 10).next(); !errors.Is(err, broken) {
		t.Errorf("next() = %v, want the stream's error", err)
	}
}
