package opencode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Model names a model of a provider.
type Model struct{ ProviderID, ModelID string }

// ToolSwitch lets the model see a tool or not. Name may have wildcards; of several that match, the last one counts.
type ToolSwitch struct {
	Name string
	On   bool
}

// File is a file that goes with a prompt.
type File struct {
	MIME string
	// URL is a file: or data: URL.
	URL  string
	Name string
}

// PromptParams is one prompt. Text or Files are required.
type PromptParams struct {
	Text  string
	Files []File
	// Model is what answers; leave it out only if the configuration names one.
	Model Model
	// Agent is one of the configured agents; empty means the default.
	Agent string
	// System is put at the end of the system message, for this prompt only.
	System string
	// Tools are switched in this order. It is sticky: it replaces the session's permission rules for this prompt and all
	// later ones without Tools.
	Tools []ToolSwitch
	// Variant is the model's, such as a reasoning effort; empty means the default.
	Variant string
	// Schema is a JSON schema that the answer must have; it comes in [Message].Structured.
	Schema json.RawMessage
	// NoReply stores the prompt as a user message and calls no model.
	NoReply bool
}

func (p PromptParams) validate() error {
	switch {
	case strings.TrimSpace(p.Text) == "" && len(p.Files) == 0:
		return fmt.Errorf("%w: Text is empty: give a text or files", ErrInvalid)
	case (p.Model.ProviderID == "") != (p.Model.ModelID == ""):
		return fmt.Errorf("%w: Model is %q/%q: give both parts or none", ErrInvalid, p.Model.ProviderID, p.Model.ModelID)
	case p.Schema != nil && !json.Valid(p.Schema):
		return fmt.Errorf("%w: Schema is no JSON", ErrInvalid)
	case slices.ContainsFunc(p.Files, func(f File) bool { return f.MIME == "" || f.URL == "" }):
		return fmt.Errorf("%w: Files has an entry without MIME or URL", ErrInvalid)
	case slices.ContainsFunc(p.Tools, func(t ToolSwitch) bool { return t.Name == "" }):
		return fmt.Errorf("%w: Tools has an entry without Name", ErrInvalid)
	}
	return nil
}

// promptBody is the request's form. Which keys are there matters to the server, so all but parts may be left out.
type promptBody struct {
	Parts   []any          `json:"parts"`
	Model   *promptModel   `json:"model,omitempty"`
	Agent   string         `json:"agent,omitempty"`
	System  string         `json:"system,omitempty"`
	Tools   toolSwitches   `json:"tools,omitempty"`
	Variant string         `json:"variant,omitempty"`
	Format  map[string]any `json:"format,omitempty"`
	NoReply bool           `json:"noReply,omitempty"`
}

type promptModel struct {
	ProviderID string `json:"providerID"`
	ModelID    string `json:"modelID"`
}

type textInput struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type fileInput struct {
	Type string `json:"type"`
	MIME string `json:"mime"`
	URL  string `json:"url"`
	Name string `json:"filename,omitempty"`
}

// toolSwitches is encoded as an object whose keys keep their order, which a Go map would lose.
type toolSwitches []ToolSwitch

// MarshalJSON writes the switches in order.
func (ts toolSwitches) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, t := range ts {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(t.Name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		fmt.Fprintf(&b, ":%t", t.On)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (p PromptParams) body() promptBody {
	b := promptBody{
		Agent: p.Agent, System: p.System, Tools: p.Tools, Variant: p.Variant, NoReply: p.NoReply, Parts: []any{},
	}
	if p.Text != "" {
		b.Parts = append(b.Parts, textInput{Type: "text", Text: p.Text})
	}
	for _, f := range p.Files {
		b.Parts = append(b.Parts, fileInput{Type: "file", MIME: f.MIME, URL: f.URL, Name: f.Name})
	}
	if p.Model != (Model{}) {
		b.Model = &promptModel{ProviderID: p.Model.ProviderID, ModelID: p.Model.ModelID}
	}
	if p.Schema != nil {
		b.Format = map[string]any{"type": "json_schema", "schema": p.Schema}
	}
	return b
}

// Prompt runs a turn and blocks until it has ended. It returns the last assistant message of the turn; earlier steps come from
// [Client.Answers] with its ParentID. If the turn failed, the message is returned beside the error, which unwraps to one
// of the turn's sentinels.
//
// A ctx that ends, ends the waiting only: the turn runs on until [Client.Abort]. A session takes one prompt at a time: a second
// one waits for the first, and both return with the second one's answer.
func (c *Client) Prompt(ctx context.Context, sessionID string, p PromptParams) (Message, error) {
	op := fmt.Sprintf("prompting session %q", sessionID)
	k, err := c.promptCall(op, sessionID, "/message", p)
	if err != nil {
		return Message{}, err
	}
	k.long = true
	text, err := c.do(ctx, k)
	if errors.Is(err, ErrServer) {
		return Message{}, c.diagnose(ctx, op, sessionID, p, err)
	}
	if err != nil {
		return Message{}, err
	}
	m := decodeMessage(gjson.Parse(text))
	if m.ID == "" {
		// What older versions answer when the model, the agent or the session is unknown: success, and nothing.
		return Message{}, c.diagnose(ctx, op, sessionID, p, fmt.Errorf("%s: %w: no message", op, ErrUnexpectedReply))
	}
	if err := m.Err(); err != nil {
		return m, fmt.Errorf("%s: %w", op, err)
	}
	return m, nil
}

// PromptAsync starts a turn and returns at once. How it goes comes as events, so subscribe before: a [SessionError] tells of
// an unknown model or agent, [SessionIdle] is the end.
func (c *Client) PromptAsync(ctx context.Context, sessionID string, p PromptParams) error {
	op := fmt.Sprintf("prompting session %q", sessionID)
	k, err := c.promptCall(op, sessionID, "/prompt_async", p)
	if err != nil {
		return err
	}
	quiet, err := c.quiet(ctx)
	if err != nil {
		return err
	}
	if quiet {
		// Such a version accepts everything, and for an unknown agent not even an event follows.
		if err := c.diagnose(ctx, op, sessionID, p, nil); err != nil {
			return err
		}
	}
	_, err = c.do(ctx, k)
	return err
}

func (c *Client) promptCall(op, sessionID, path string, p PromptParams) (call, error) {
	if err := checkSessionID(op, sessionID); err != nil {
		return call{}, err
	}
	if err := p.validate(); err != nil {
		return call{}, fmt.Errorf("%s: %w", op, err)
	}
	c.link.visit(c.dir)
	return call{op: op, method: "POST", path: "/session/" + sessionID + path, body: p.body(), absent: ErrSessionNotFound}, nil
}

// diagnose finds out what of a prompt does not exist, since the server only says that something went wrong. If all is
// there, or cannot be asked for, it returns the error that it was given.
func (c *Client) diagnose(ctx context.Context, op, sessionID string, p PromptParams, cause error) error {
	if _, err := c.Session(ctx, sessionID); errors.Is(err, ErrSessionNotFound) {
		return fmt.Errorf("%s: %w", op, err)
	}
	if p.Agent != "" {
		agents, err := c.Agents(ctx)
		if err == nil && !slices.Contains(agents, p.Agent) {
			return fmt.Errorf("%s: %w: %q, there are %.200q", op, ErrUnknownAgent, p.Agent, agents)
		}
	}
	if p.Model != (Model{}) {
		providers, err := c.Providers(ctx)
		if err == nil && !offers(providers, p.Model) {
			return fmt.Errorf("%s: %w: %s/%s: see that its provider is configured and logged in",
				op, ErrUnknownModel, p.Model.ProviderID, p.Model.ModelID)
		}
	}
	return cause
}

func offers(providers []Provider, m Model) bool {
	return slices.ContainsFunc(providers, func(p Provider) bool {
		return p.ID == m.ProviderID && slices.Contains(p.Models, m.ModelID)
	})
}

// ParseModel reads "provider/model"; the model's part may hold slashes.
func ParseModel(text string) (Model, error) {
	provider, model, ok := strings.Cut(text, "/")
	if !ok || provider == "" || model == "" {
		return Model{}, fmt.Errorf("%w: model is %q: give PROVIDER/MODEL", ErrInvalid, text)
	}
	return Model{ProviderID: provider, ModelID: model}, nil
}

// String returns "provider/model", or "default" for the zero value.
func (m Model) String() string {
	if m == (Model{}) {
		return "default"
	}
	return cmp.Or(m.ProviderID, "?") + "/" + cmp.Or(m.ModelID, "?")
}
