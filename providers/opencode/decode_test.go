package opencode

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// The recordings are of the real servers, driven with a scripted model: a plain turn, reasoning, provider errors, an unknown model,
// aborts in text and in a shell command, permissions and a question.
var recorded = []string{"1.18.33", "1.17.19", "1.2.27"}

func TestRecordedEvents(t *testing.T) {
	t.Parallel()
	for _, v := range recorded {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			file, err := os.Open(filepath.Join("testdata", "events-"+v+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			var got strings.Builder
			scanner := bufio.NewScanner(file)
			scanner.Buffer(nil, 1<<20)
			for scanner.Scan() {
				e, err := decodeEvent(scanner.Text())
				if err != nil {
					t.Fatalf("decodeEvent(%s) = %v", scanner.Text(), err)
				}
				if !gjson.Valid(e.Raw) {
					t.Errorf("Raw of %s = %q, want the properties", e.Type, e.Raw)
				}
				fmt.Fprintf(&got, "%s %s %s\n", e.Type, e.SessionID, viewBody(e.Body))
			}
			if err := scanner.Err(); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "events-"+v+".golden"), got.String())
		})
	}
}

// viewBody shows what was understood of an event, one line each.
func viewBody(body EventBody) string {
	switch b := body.(type) {
	case MessageUpdated:
		return viewMessage(b.Message)
	case PartUpdated:
		return viewPart(b.Part)
	case SessionChanged:
		return fmt.Sprintf("session %s %q rules %v", b.Session.ID, b.Session.Title, b.Session.Permission)
	case SessionStatus:
		return fmt.Sprintf("%s attempt %d %q next %d", b.Status.Kind, b.Status.Attempt, b.Status.Message, max(b.Status.Next.UnixMilli(), 0))
	case SessionError:
		return fmt.Sprintf("error %v: %v", b.Err.Unwrap(), b.Err)
	case PermissionAsked:
		p := b.Permission
		return fmt.Sprintf("permission %s %s %q always %q call %s %s of %s", p.ID, p.Permission, p.Patterns, p.Always, p.CallID, p.Metadata, p.SessionID)
	case QuestionAsked:
		return fmt.Sprintf("question %s %+v call %s", b.Question.ID, b.Question.Questions, b.Question.CallID)
	default:
		return fmt.Sprintf("%T%+v", body, body)
	}
}

func viewMessage(m Message) string {
	view := fmt.Sprintf("%s %s of %q model %s/%s agent %s finish %q tokens %+v created %d completed %t",
		m.Role, m.ID, m.ParentID, m.ProviderID, m.ModelID, m.Agent, m.Finish, m.Tokens, m.Created.UnixMilli(), !m.Completed.IsZero())
	if m.Error != nil {
		view += fmt.Sprintf(" error %v retryable %t", m.Error, m.Error.Retryable)
	}
	if m.System != "" {
		view += fmt.Sprintf(" system %q", m.System)
	}
	return view
}

func viewPart(p Part) string {
	view := fmt.Sprintf("%s %s", p.Type, p.ID)
	switch p.Type {
	case TextPart, ReasoningPart:
		view += fmt.Sprintf(" %q ended %t", p.Text, !p.End.IsZero())
	case ToolPart:
		s := p.State
		view += fmt.Sprintf(" %s %s %s input %s output %q error %q title %q", p.Tool, p.CallID, s.Status, s.Input, s.Output, s.Error, s.Title)
	case StepFinishPart:
		view += fmt.Sprintf(" %s %+v", p.Reason, p.Tokens)
	case StepStartPart, FilePart, RetryPart:
	}
	return view
}

func TestRecordedMessages(t *testing.T) {
	t.Parallel()
	for _, v := range recorded {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", "messages-"+v+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, doc := range gjson.ParseBytes(data).Array() {
				m := decodeMessage(doc)
				fmt.Fprintf(&got, "%s\n  text %q err %v\n", viewMessage(m), m.Text(), m.Err())
				for _, p := range m.Parts {
					fmt.Fprintf(&got, "  %s\n", viewPart(p))
				}
			}
			golden(t, filepath.Join("testdata", "messages-"+v+".golden"), got.String())
		})
	}
}

// golden compares with a file; UPDATE_GOLDEN=1 rewrites it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func TestDecodeEvent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, data, session string
		want                EventBody
	}{
		{name: "unknown type", data: `{"type":"new.thing","properties":{"sessionID":"ses_1","a":1}}`, session: "ses_1", want: Unknown{}},
		{name: "no properties", data: `{"type":"session.idle"}`, want: SessionIdle{}},
		{name: "wrapped", data: `{"directory":"/p","payload":{"type":"session.idle","properties":{"sessionID":"ses_1"}}}`, session: "ses_1", want: SessionIdle{}},
		{name: "wrong kinds of values", data: `{"type":"message.part.delta","properties":{"sessionID":5,"delta":{"a":1},"field":null}}`, session: "5", want: PartDelta{Delta: `{"a":1}`}},
		{name: "error without an error", data: `{"type":"session.error","properties":{}}`, want: SessionError{Err: &ModelError{Name: "UnknownError"}}},
		{name: "older permission reply", data: `{"type":"permission.replied","properties":{"sessionID":"ses_1","permissionID":"per_1","response":"once"}}`, session: "ses_1", want: PermissionReplied{RequestID: "per_1", Reply: ReplyOnce}},
		{name: "question dismissed", data: `{"type":"question.rejected","properties":{"sessionID":"ses_1","requestID":"que_1"}}`, session: "ses_1", want: QuestionClosed{RequestID: "que_1"}},
		{name: "message removed", data: `{"type":"message.removed","properties":{"sessionID":"ses_1","messageID":"msg_1"}}`, session: "ses_1", want: MessageRemoved{MessageID: "msg_1"}},
		{name: "part removed", data: `{"type":"message.part.removed","properties":{"sessionID":"ses_1","messageID":"msg_1","partID":"prt_1"}}`, session: "ses_1", want: PartRemoved{MessageID: "msg_1", PartID: "prt_1"}},
		{name: "tools", data: `{"type":"mcp.tools.changed","properties":{"server":"space"}}`, want: ToolsChanged{Server: "space"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := decodeEvent(tt.data)
			if err != nil || got.SessionID != tt.session {
				t.Fatalf("decodeEvent() = %+v, %v, want session %q", got, err, tt.session)
			}
			if diff := cmp.Diff(tt.want, got.Body); diff != "" {
				t.Errorf("body differs (-want +got):\n%s", diff)
			}
		})
	}
	for _, data := range []string{"", "null", "[]", `"x"`, "{", `{"type":5}`, `{"type":""}`, `{"properties":{}}`} {
		if _, err := decodeEvent(data); err == nil {
			t.Errorf("decodeEvent(%q) = nil, want an error", data)
		}
	}
}

func TestUnknownPartsAreKept(t *testing.T) {
	t.Parallel()
	raw := `{"id":"prt_1","messageID":"msg_1","sessionID":"ses_1","type":"hologram","depth":3}`
	p := decodePart(gjson.Parse(raw))
	if p.ID != "prt_1" || p.Type != "hologram" || p.Raw != raw {
		t.Errorf("decodePart() = %+v, want it kept as it is", p)
	}
}

// FuzzEvents feeds whatever a stream could carry through the reader and the decoder.
func FuzzEvents(f *testing.F) {
	for _, v := range recorded {
		data, err := os.ReadFile(filepath.Join("testdata", "events-"+v+".jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			f.Add("data: " + line + "\n")
		}
	}
	f.Add(": comment\r\nevent: x\r\ndata\r\ndata:{\"type\":\"a\"}\r\n\r\n")
	f.Fuzz(func(t *testing.T, stream string) {
		const most = 4096
		reader := newSSEReader(strings.NewReader(stream), most)
		for {
			data, err := reader.next()
			if err != nil && !errors.Is(err, errEventTooLarge) {
				return
			}
			if len(data) > most+len(stream) || (err == nil && len(data) > most) {
				t.Fatalf("event of %d bytes, want at most %d", len(data), most)
			}
			if e, err := decodeEvent(data); err == nil && (e.Type == "" || e.Body == nil) {
				t.Errorf("decodeEvent(%q) = %+v, want a type and a body", data, e)
			}
		}
	})
}
