package space

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"agentd/messages"
	"agentd/providers/opencode"
)

// step is one assistant message of OpenCode: one call of the model.
type step struct {
	id              string
	provider, model string
	parts           []*textPart
	// told is the message as it was told of last, without its parts.
	told opencode.Message
}

// textPart is text or reasoning that grows.
type textPart struct {
	id      string
	message string
	kind    opencode.PartType
	// known says that the part itself was told of, not only text for it.
	known     bool
	synthetic bool
	text      []byte
	// dirty says that the draft is behind the text, ended that the text is whole.
	dirty bool
	ended bool
}

// feed makes of OpenCode's events what the turn's drafts should show. It does nothing but that: it is the state, the turn acts on it.
type feed struct {
	// newest is the last message that is not this turn's.
	newest string
	// asks are the user messages of the turn, oldest first: the prompt, and what OpenCode itself adds when it compacts the conversation.
	asks  []string
	steps []*step
	// hidden are assistant messages that are no answer: summaries.
	hidden map[string]bool
	parts  map[string]*textPart
	// waiting are parts whose message is not known as a step yet.
	waiting []*textPart
	// settled are the texts of items that were shown as whole.
	settled map[messages.ItemID]string
}

func newFeed(newest string) *feed {
	return &feed{newest: newest, hidden: map[string]bool{}, parts: map[string]*textPart{}, settled: map[messages.ItemID]string{}}
}

// message takes in a message without its parts.
func (f *feed) message(m opencode.Message) {
	if m.ID <= f.newest {
		return // A late word about the turn before.
	}
	switch {
	case m.Role == opencode.UserRole:
		f.ask(m.ID)
	case m.Role == opencode.AssistantRole && m.ParentID > f.newest:
		f.ask(m.ParentID) // Its own word may be missing.
		f.assistant(m)
	}
}

func (f *feed) ask(id string) {
	if !slices.Contains(f.asks, id) {
		f.asks = append(f.asks, id)
	}
}

func (f *feed) assistant(m opencode.Message) {
	if gjson.Get(m.Raw, "summary").Bool() {
		f.hidden[m.ID] = true
		return
	}
	s := f.step(m.ID)
	if s == nil {
		s = &step{id: m.ID}
		f.steps = append(f.steps, s)
	}
	s.provider, s.model, s.told = m.ProviderID, m.ModelID, m
	f.waiting = slices.DeleteFunc(f.waiting, func(p *textPart) bool {
		if p.message != m.ID || !p.known {
			return false
		}
		p.dirty = true
		s.parts = append(s.parts, p)
		return true
	})
}

func (f *feed) step(message string) *step {
	for _, s := range f.steps {
		if s.id == message {
			return s
		}
	}
	return nil
}

// part takes in text or reasoning as it stands now.
func (f *feed) part(p opencode.Part) {
	if p.MessageID <= f.newest || (p.Type != opencode.TextPart && p.Type != opencode.ReasoningPart) {
		return
	}
	tp := f.find(p.ID, p.MessageID)
	// Deltas that came before the first word of the part itself are not in it if it is empty.
	if p.Text != "" || !p.End.IsZero() || tp.known {
		tp.text = []byte(p.Text)
	}
	tp.kind, tp.synthetic, tp.dirty, tp.ended = p.Type, p.Synthetic, true, !p.End.IsZero()
	if !tp.known {
		tp.known = true
		f.place(tp)
	}
}

// place puts a part that is known now into its step, if that is known too.
func (f *feed) place(tp *textPart) {
	if s := f.step(tp.message); s != nil {
		f.waiting = slices.DeleteFunc(f.waiting, func(w *textPart) bool { return w == tp })
		s.parts = append(s.parts, tp)
	}
}

// unplaced reports whether there are parts of a message of which nothing is known. Those of the prompt are known.
func (f *feed) unplaced() bool {
	return slices.ContainsFunc(f.waiting, func(p *textPart) bool { return !slices.Contains(f.asks, p.message) })
}

// delta takes in text to be put at the end of a part.
func (f *feed) delta(d opencode.PartDelta) {
	if d.Field != "text" || d.MessageID <= f.newest {
		return
	}
	tp := f.find(d.PartID, d.MessageID)
	if len(tp.text) < maxText {
		tp.text = append(tp.text, d.Delta...)
	}
	tp.dirty = true
}

func (f *feed) find(id, message string) *textPart {
	tp := f.parts[id]
	if tp == nil {
		tp = &textPart{id: id, message: message}
		f.parts[id] = tp
		f.waiting = append(f.waiting, tp)
	}
	return tp
}

// drafts returns the items that have changed since the last time, as drafts.
func (f *feed) drafts() []messages.Item {
	var out []messages.Item
	for _, s := range f.steps {
		said := false
		for _, p := range s.parts {
			if p.dirty && p.kind == opencode.ReasoningPart && len(p.text) > 0 {
				out = append(out, s.item(reasoningID(p.id), messages.ItemReasoning, string(p.text)))
			}
			said = said || (p.dirty && p.kind == opencode.TextPart)
			p.dirty = false
		}
		if text := s.text(); said && text != "" {
			out = append(out, s.item(assistantID(s.id), messages.ItemMessage, text))
		}
	}
	return out
}

// settle returns the items of a step that are whole and were not shown as that yet. It is asked before a tool call.
func (f *feed) settle(s *step) []messages.Item {
	var out []messages.Item
	whole := true
	for _, p := range s.parts {
		if p.kind == opencode.ReasoningPart && p.ended {
			out = append(out, s.item(reasoningID(p.id), messages.ItemReasoning, string(p.text)))
		}
		whole = whole && (p.kind != opencode.TextPart || p.ended)
	}
	if whole {
		out = append(out, s.item(assistantID(s.id), messages.ItemMessage, s.text()))
	}
	return slices.DeleteFunc(out, func(item messages.Item) bool { return item.Content == "" || !f.whole(item) })
}

// whole notes that an item is shown as whole. It is false if it was already, with the same text.
func (f *feed) whole(item messages.Item) bool {
	before, known := f.settled[item.ID]
	f.settled[item.ID] = item.Content
	return !known || before != item.Content
}

func (s *step) item(id messages.ItemID, kind messages.ItemType, text string) messages.Item {
	item := messages.Item{
		ID: id, Type: kind, Content: cut(text), Provider: s.provider, Model: s.model, StreamStatus: messages.StreamStreaming,
	}
	if kind == messages.ItemMessage {
		item.Role = messages.RoleAssistant
	}
	return item
}

// text is that of a step, as [opencode.Message.Text] puts it together.
func (s *step) text() string {
	var texts []string
	for _, p := range s.parts {
		if p.kind == opencode.TextPart && !p.synthetic && len(p.text) > 0 {
			texts = append(texts, string(p.text))
		}
	}
	return strings.Join(texts, "\n")
}
