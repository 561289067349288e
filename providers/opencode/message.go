package opencode

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Role says whose message it is.
type Role string

// The roles.
const (
	UserRole      Role = "user"
	AssistantRole Role = "assistant"
)

// Tokens counts what an answer has used.
type Tokens struct {
	Input, Output, Reasoning, CacheRead, CacheWrite int64
}

// Message is a message of a session. A turn has one user message and one assistant message for each step of the model, all of
// which name the user message as their parent.
type Message struct {
	ID, SessionID string
	Role          Role
	// ParentID is the user message that an assistant message answers.
	ParentID string
	// ProviderID and ModelID are what was used or, in a user message, asked for.
	ProviderID, ModelID string
	Agent               string
	// System is the system text that came with a user message.
	System             string
	Cost               float64
	Tokens             Tokens
	Created, Completed time.Time
	// Finish is how the model ended the step, such as "stop" or "tool-calls"; empty if it did not.
	Finish string
	// Error is what the step failed with, or nil.
	Error *ModelError
	// Structured is the JSON that was asked for by [PromptParams].Schema; otherwise empty.
	Structured string
	// Parts are the content; they are missing in events.
	Parts []Part
	// Raw is the message without its parts as it came.
	Raw string
}

// Text returns the text of the message: its text parts that a person or the model wrote, joined by line ends.
func (m Message) Text() string {
	var texts []string
	for _, p := range m.Parts {
		if p.Type == TextPart && !p.Synthetic && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Err returns what is wrong with an assistant message: its error, or [ErrIncomplete] if it has no end; nil for a user message.
func (m Message) Err() error {
	switch {
	case m.Error != nil:
		return m.Error
	case m.Role == AssistantRole && m.Finish == "":
		return ErrIncomplete
	default:
		return nil
	}
}

// Messages returns the newest messages of a session with their parts, at most limit, oldest first; zero means all.
func (c *Client) Messages(ctx context.Context, sessionID string, limit int) ([]Message, error) {
	op := fmt.Sprintf("getting messages of session %q", sessionID)
	if err := checkSessionID(op, sessionID); err != nil {
		return nil, err
	}
	query := url.Values{}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	list, err := c.list(ctx, call{
		op: op, method: "GET", path: "/session/" + sessionID + "/message", query: query, absent: ErrSessionNotFound,
	})
	if err != nil {
		return nil, err
	}
	out := make([]Message, len(list))
	for i, doc := range list {
		out[i] = decodeMessage(doc)
	}
	return out, nil
}

// firstPage is how many messages Answers asks for at first; most turns are shorter.
const firstPage = 50

// Answers returns the assistant messages that answer a user message, oldest first: all steps of its turn, and none of any
// other. [ErrMessageNotFound] means that the session does not have the user message.
func (c *Client) Answers(ctx context.Context, sessionID, userMessageID string) ([]Message, error) {
	// The cursors of the versions differ, so a page that does not reach back far enough is asked for again, larger.
	for limit := firstPage; ; limit *= 4 {
		messages, err := c.Messages(ctx, sessionID, limit)
		if err != nil {
			return nil, err
		}
		var answers []Message
		found := false
		for _, m := range messages {
			found = found || m.ID == userMessageID
			if m.Role == AssistantRole && m.ParentID == userMessageID {
				answers = append(answers, m)
			}
		}
		if found {
			return answers, nil
		}
		if len(messages) < limit {
			return nil, fmt.Errorf("getting answers to message %q: %w", userMessageID, ErrMessageNotFound)
		}
	}
}

// decodeMessage reads {info, parts}.
func decodeMessage(doc gjson.Result) Message {
	m := decodeInfo(doc.Get("info"))
	for _, p := range doc.Get("parts").Array() {
		m.Parts = append(m.Parts, decodePart(p))
	}
	return m
}

func decodeInfo(info gjson.Result) Message {
	m := Message{
		ID: info.Get("id").String(), SessionID: info.Get("sessionID").String(), Role: Role(info.Get("role").String()),
		ParentID: info.Get("parentID").String(), ProviderID: info.Get("providerID").String(), ModelID: info.Get("modelID").String(),
		Agent: info.Get("agent").String(), System: info.Get("system").String(),
		Cost: info.Get("cost").Float(), Tokens: decodeTokens(info.Get("tokens")),
		Created: millis(info.Get("time.created")), Completed: millis(info.Get("time.completed")),
		Finish: info.Get("finish").String(), Error: decodeModelError(info.Get("error")),
		Structured: info.Get("structured").Raw, Raw: info.Raw,
	}
	if model := info.Get("model"); model.IsObject() {
		m.ProviderID, m.ModelID = model.Get("providerID").String(), model.Get("modelID").String()
	}
	return m
}

func decodeTokens(doc gjson.Result) Tokens {
	return Tokens{
		Input: doc.Get("input").Int(), Output: doc.Get("output").Int(), Reasoning: doc.Get("reasoning").Int(),
		CacheRead: doc.Get("cache.read").Int(), CacheWrite: doc.Get("cache.write").Int(),
	}
}

func decodeModelError(doc gjson.Result) *ModelError {
	if !doc.IsObject() {
		return nil
	}
	return &ModelError{
		Name: doc.Get("name").String(), Message: clip(doc.Get("data.message").String()),
		Status: int(doc.Get("data.statusCode").Int()), Retryable: doc.Get("data.isRetryable").Bool(), Raw: doc.Raw,
	}
}
