package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Point says where in an answer something happens.
type Point int

// The points of an answer.
const (
	// Never is the zero value: it does not happen.
	Never Point = iota
	// AtOnce is before the first byte, headers included.
	AtOnce
	// InMid is after all content, and before anything that says that the answer is complete.
	InMid
)

// ToolCall is a call that the model asks for.
type ToolCall struct {
	// ID is made up if it is empty.
	ID string
	// Namespace is filled in from the offered tools if it is empty.
	Namespace string
	Name      string
	// Loose lets Name be the end of the offered name after an underscore, so that "echo" finds "space_echo" and
	// "mcp__space__echo"; clients name the same tool differently.
	Loose bool
	// Arguments is JSON text; empty means {}. It is passed on as it is, so it may be wrong on purpose.
	Arguments string
}

// Usage are the token counts of an answer.
type Usage struct {
	Input, CachedInput, Output, Reasoning int
}

// Reply is one answer of the model. The zero value is an empty text. Content comes as reasoning, text, tool calls, in this order.
type Reply struct {
	Reasoning string
	Text      string
	Calls     []ToolCall
	// Usage nil means counts estimated from the sizes.
	Usage *Usage
	// Truncated ends the answer as cut by the output limit.
	Truncated bool

	// Status other than zero and 200 answers an error in the protocol's own form.
	Status int
	// Message is the error's text; empty means one made of the status.
	Message string
	// RetryAfter is sent with an error; zero sends none.
	RetryAfter time.Duration
	// Malformed breaks the JSON of the answer.
	Malformed bool
	// RawBody, if not empty, is the answer's whole body, whatever the protocol wants.
	RawBody string

	// Delay comes before the first byte.
	Delay time.Duration
	// Pause is the time between two pieces of streamed text; zero means that of [Options].
	Pause time.Duration
	// Hang waits there until [Server.Release] or until the client has gone.
	Hang Point
	// Cut breaks the connection there.
	Cut Point
}

// Say is an answer of text.
func Say(text string) Reply { return Reply{Text: text} }

// Call is an answer that calls one tool. Arguments may be JSON text (a string or json.RawMessage) or any value that
// encodes to it; a value that does not is a mistake in the test and panics.
func Call(name string, arguments any) Reply {
	return Reply{Calls: []ToolCall{NewCall(name, arguments)}}
}

// CallLike is [Call] with a loose name.
func CallLike(name string, arguments any) Reply {
	call := NewCall(name, arguments)
	call.Loose = true
	return Reply{Calls: []ToolCall{call}}
}

// NewCall is one tool call, for answers with several.
func NewCall(name string, arguments any) ToolCall {
	switch a := arguments.(type) {
	case nil:
		return ToolCall{Name: name, Arguments: "{}"}
	case string:
		return ToolCall{Name: name, Arguments: a}
	case json.RawMessage:
		return ToolCall{Name: name, Arguments: string(a)}
	}
	encoded, err := json.Marshal(arguments)
	if err != nil {
		panic(fmt.Sprintf("modelserver: arguments of a scripted call of %q: %v", name, err))
	}
	return ToolCall{Name: name, Arguments: string(encoded)}
}

// Fail is an error answer.
func Fail(status int, message string) Reply { return Reply{Status: status, Message: message} }

// RateLimit is a 429 that says when to come again.
func RateLimit(after time.Duration) Reply {
	return Reply{Status: http.StatusTooManyRequests, Message: "rate limit reached", RetryAfter: after}
}

// HangAfter says the text and then hangs; an empty text hangs before the first byte.
func HangAfter(text string) Reply {
	if text == "" {
		return Reply{Hang: AtOnce}
	}
	return Reply{Text: text, Hang: InMid}
}

// CutAfter says the text and then breaks the connection; an empty text breaks it before the first byte.
func CutAfter(text string) Reply {
	if text == "" {
		return Reply{Cut: AtOnce}
	}
	return Reply{Text: text, Cut: InMid}
}

func (r Reply) failed() bool { return r.Status != 0 && r.Status != http.StatusOK }

func (r Reply) empty() bool {
	return r.Reasoning == "" && r.Text == "" && len(r.Calls) == 0 && r.RawBody == "" && !r.failed() &&
		r.Hang == Never && r.Cut == Never && !r.Malformed
}

func (r Reply) validate() error {
	switch {
	case r.Status != 0 && (r.Status < 100 || r.Status > 599):
		return fmt.Errorf("%w: Status is %d: give a status of HTTP", ErrInvalid, r.Status)
	case r.Delay < 0 || r.Pause < 0 || r.RetryAfter < 0:
		return fmt.Errorf("%w: Delay, Pause and RetryAfter must not be negative", ErrInvalid)
	case r.Hang < Never || r.Hang > InMid:
		return fmt.Errorf("%w: Hang is %d: give Never, AtOnce or InMid", ErrInvalid, r.Hang)
	case r.Cut < Never || r.Cut > InMid:
		return fmt.Errorf("%w: Cut is %d: give Never, AtOnce or InMid", ErrInvalid, r.Cut)
	}
	for _, call := range r.Calls {
		if call.Name == "" {
			return fmt.Errorf("%w: a tool call has no Name", ErrInvalid)
		}
	}
	return nil
}
