package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func fuzzSeeds(f *testing.F) {
	f.Helper()
	for _, tc := range append(append(malformedCases(), lifecycleCases()...), callCases()...) {
		f.Add([]byte(strings.Join(tc.lines, "\n")))
	}
	f.Add([]byte(legacyHello))
	f.Add([]byte(modernHello))
}

// FuzzParseEnvelope checks that whatever is taken for a message is one: it can be written, and comes back the same.
func FuzzParseEnvelope(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(bytes.TrimSpace(line)) == 0 {
			return
		}
		e, no := parseEnvelope(line)
		if no != nil {
			if answer := no.encode(); !json.Valid(answer) || bytes.Count(answer, []byte("\n")) != 1 {
				t.Fatalf("answer %q is not one line of JSON", answer)
			}
			return
		}
		encoded, err := jsonrpc.EncodeMessage(e.message())
		if err != nil {
			t.Fatalf("encoding what was read: %v", err)
		}
		again, no := parseEnvelope(encoded)
		if no != nil || again.id != e.id || again.method != e.method || again.hasID != e.hasID {
			t.Fatalf("%q was read as %+v, and written and read again as %+v, %v", line, e, again, no)
		}
	})
}

// FuzzLedger checks that the ledger loses no request: what it lets in is open until it is settled, and nothing else is.
func FuzzLedger(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		l := newLedger(func() {})
		open := map[jsonrpc.ID]bool{}
		for line := range bytes.SplitSeq(input, []byte("\n")) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			message, no := l.admit(line)
			if message != nil && no != nil {
				t.Fatalf("%q came to a message and to an answer", line)
			}
			if req, ok := message.(*jsonrpc.Request); ok && req.ID.IsValid() {
				if open[req.ID] {
					t.Fatalf("id %v was let in twice", req.ID)
				}
				open[req.ID] = true
			}
		}
		if len(open) != len(l.calls) {
			t.Fatalf("%d requests were let in, %d are open", len(open), len(l.calls))
		}
		for id := range open {
			l.settle(id)
		}
		select {
		case <-l.drained():
		default:
			t.Fatal("all is settled, and it is not drained")
		}
	})
}

// FuzzRunStdio checks that whatever a client sends, the server ends well, and writes nothing but lines of JSON.
func FuzzRunStdio(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		tools := newTestTools()
		close(tools.release)
		var out bytes.Buffer
		err := RunStdio(t.Context(), tools.server(), bytes.NewReader(input), &out, &StdioOptions{MaxLineBytes: 2000, DrainTimeout: patience})
		if err != nil && !errors.Is(err, ErrLineTooLong) {
			t.Fatalf("RunStdio() = %v", err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Fatalf("it wrote %q", line)
			}
		}
	})
}
