package modelserver

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Wire names the protocol that a request came in.
type Wire string

// The protocols that the server speaks, each streaming and not.
const (
	ChatCompletions Wire = "chat-completions"
	Responses       Wire = "responses"
	Messages        Wire = "messages"         // Anthropic
	GenerateContent Wire = "generate-content" // Gemini
)

// Role says who said a [Message]. The protocols' own names are mapped to these.
type Role string

// The roles. A Note is text that a client put beside tool results in what the protocol calls a user message.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
	Note      Role = "note"
)

// Outcome says how far the answer to a request has come.
type Outcome string

// The outcomes.
const (
	Pending    Outcome = "pending"     // being written, or delayed
	Hanging    Outcome = "hanging"     // waits for Release or for the client to go
	Completed  Outcome = "completed"   // written to its end
	Failed     Outcome = "failed"      // answered by an error status
	CutOff     Outcome = "cut-off"     // broken by the script
	ClientGone Outcome = "client-gone" // the client closed the connection first
)

// Message is one entry of the conversation that a request carries.
type Message struct {
	Role Role
	Text string
	// Calls are the tool calls that an assistant message asks for.
	Calls []ToolCall
	// CallID names the call that a tool message answers.
	CallID string
}

// Tool is a tool that the client offers to the model.
type Tool struct {
	// Namespace groups tools where the protocol has that; otherwise empty.
	Namespace string
	// Name is what a call has to say.
	Name        string
	Description string
	// Schema is the JSON schema of the arguments as it came.
	Schema json.RawMessage
}

// Request is a model request as the server understood it, whatever protocol it came in. It may be kept,
// and must not be changed.
type Request struct {
	// Number counts all requests from 1.
	Number int
	Wire   Wire
	Model  string
	Stream bool
	// System is the text of all system messages.
	System string
	// Messages is the conversation without system messages, oldest first.
	Messages []Message
	Tools    []Tool
	// Side says that the client asked for itself; see [Options].Side.
	Side bool
	// Step is the index in the script of the step that answered, or -1.
	Step int
	// Refused says why the server answered by itself and asked no script: a wrong key, an unknown model, a request that
	// cannot be read. Otherwise empty.
	Refused string
	Outcome Outcome
	// At is when the request had arrived, and Ended when its answer was over, zero before that.
	At, Ended time.Time
	Path      string
	Header    http.Header
	Body      json.RawMessage
}

// ToolNames returns the names of the offered tools in their order.
func (r Request) ToolNames() []string {
	names := make([]string, len(r.Tools))
	for i, tool := range r.Tools {
		names[i] = tool.Name
	}
	return names
}

// Offers reports whether a tool of that name is offered.
func (r Request) Offers(name string) bool {
	for _, tool := range r.Tools {
		if tool.Name == name {
			return true
		}
	}
	return false
}

// Last returns the newest message; its zero value if there is none.
func (r Request) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// Prompt returns the newest user message's text.
func (r Request) Prompt() string {
	if i := r.lastUser(); i >= 0 {
		return r.Messages[i].Text
	}
	return ""
}

// TurnStep counts the model's steps since the newest user message: 1 for the first answer to it, 2 for the one after the
// first tool result, and so on.
func (r Request) TurnStep() int {
	n := 1
	for _, m := range r.Messages[r.lastUser()+1:] {
		if m.Role == Assistant {
			n++
		}
	}
	return n
}

// Results returns the tool results since the newest user message, oldest first.
func (r Request) Results() []Message {
	var results []Message
	for _, m := range r.Messages[r.lastUser()+1:] {
		if m.Role == ToolRole {
			results = append(results, m)
		}
	}
	return results
}

func (r Request) lastUser() int {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == User {
			return i
		}
	}
	return -1
}

// IsSide recognises the requests that known clients make beside a conversation: a title, a topic or a next-speaker check, a
// probe of the quota. They offer no tools and carry a telling system prompt or text.
func IsSide(r Request) bool {
	if len(r.Tools) > 0 {
		return false
	}
	system := strings.ToLower(r.System)
	for _, sign := range []string{
		"title generator", "you output only a thread title", "sentence-case title", "word title", "new conversation topic",
		"generate a title", "generate a concise",
	} {
		if strings.Contains(system, sign) {
			return true
		}
	}
	prompt := r.Prompt()
	return prompt == "quota" || strings.HasPrefix(prompt, "Generate a title for this conversation") ||
		strings.Contains(prompt, "next_speaker")
}
