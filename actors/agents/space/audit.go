package space

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentd/messages"
	"agentd/providers/opencode"
)

// fetch asks for the turn's messages: those that answer its prompt, oldest first.
func (t *turn) fetch(ctx context.Context) ([]opencode.Message, error) {
	// One more than is known of shows that nothing is missing in front.
	for limit := len(t.feed.asks) + len(t.feed.steps) + len(t.feed.hidden) + 2; ; limit *= 4 {
		list, err := t.link.Client().Messages(ctx, t.session, limit)
		if err != nil {
			return nil, fmt.Errorf("fetching what OpenCode has answered: %w", err)
		}
		if len(list) == limit && list[0].ID > t.feed.newest {
			continue
		}
		var answers []opencode.Message
		for _, m := range list {
			t.feed.message(m)
			if t.feed.step(m.ID) != nil {
				answers = append(answers, m)
			}
		}
		return answers, nil
	}
}

// told returns the answer as the events have told it, if they have told all of it: the turn was one step that ended well and called no tool, no event was
// missed, and every part is whole. There is nothing to audit then, and a request is saved that takes OpenCode longer than all of ours.
func (t *turn) told() ([]opencode.Message, bool) {
	f := t.feed
	if t.looked || t.failed() || len(f.steps) != 1 || len(f.asks) != 1 || len(f.hidden)+len(t.calls) > 0 || f.unplaced() {
		return nil, false
	}
	s := f.steps[0]
	m := s.told
	if m.Err() != nil || m.Finish != "stop" || len(s.parts) == 0 {
		return nil, false
	}
	m.Parts = nil
	for _, p := range s.parts {
		if !p.ended || len(p.text) >= maxText {
			return nil, false
		}
		m.Parts = append(m.Parts, opencode.Part{
			ID: p.id, MessageID: p.message, SessionID: t.session, Type: p.kind, Text: string(p.text), Synthetic: p.synthetic,
		})
	}
	return []opencode.Message{m}, true
}

// absorb takes in what was fetched as if it had been told of, in the order in which it happened. Over says that the turn is over.
func (t *turn) absorb(answers []opencode.Message, over bool) error {
	for _, m := range answers {
		for _, p := range m.Parts {
			if p.Type != opencode.ToolPart {
				t.feed.part(p)
				continue
			}
			s := t.feed.step(m.ID)
			if err := errors.Join(t.settleStep(s), t.keep(t.noticed(p, s, over))); err != nil {
				return err
			}
		}
	}
	return t.show()
}

// fault returns what is wrong with the answers, if anything. What OpenCode said at the time counts if they have no error of their own.
func (t *turn) fault(answers []opencode.Message) error {
	if len(answers) == 0 {
		if t.failure != nil {
			return t.failure
		}
		return ErrNoAnswer
	}
	last := answers[len(answers)-1]
	switch {
	case last.Error != nil:
		return last.Error
	case t.failure != nil:
		return t.failure
	case last.Finish == "tool-calls":
		return fmt.Errorf("%w: it was stopped after a tool call", ErrNoAnswer)
	case last.Err() != nil:
		return last.Err()
	case silent(answers):
		return fmt.Errorf("%w: it ended with %q, and neither said nor did anything", ErrNoAnswer, cutTo(last.Finish, maxName))
	}
	return nil
}

// silent reports whether nothing came of a turn: no text in any step, and no tool that was run. A model that has done what it was asked for may
// end without a word.
func silent(answers []opencode.Message) bool {
	for _, m := range answers {
		if strings.TrimSpace(m.Text()) != "" {
			return false
		}
		for _, p := range m.Parts {
			if p.Type == opencode.ToolPart && p.State.Status == opencode.ToolCompleted && p.Tool != invalidTool {
				return false
			}
		}
	}
	return true
}

// finals are the items that complete a turn that went well: what was not told of yet, texts in their last form in place of the drafts, and
// the answer at the end.
func (t *turn) finals(answers []opencode.Message) (result string, items []messages.Item) {
	for i, m := range answers {
		said := t.final(assistantID(m.ID), messages.ItemMessage, m, m.Text())
		said.Role = messages.RoleAssistant
		last := i == len(answers)-1
		pending := said.Content != "" && !last && t.feed.whole(said)
		for _, p := range m.Parts {
			switch {
			case p.Type == opencode.ToolPart:
				items = append(items, t.noticed(p, t.feed.step(m.ID), true)...)
			case p.Type == opencode.ReasoningPart && p.Text != "":
				if thought := t.final(reasoningID(p.ID), messages.ItemReasoning, m, p.Text); t.feed.whole(thought) {
					items = append(items, thought)
				}
			case p.Type == opencode.TextPart && p.Text != "" && pending:
				items, pending = append(items, said), false
			}
		}
		if last {
			said.Usage, result = usage(answers), m.Text()
			items = append(items, said)
		}
	}
	return cutTo(result, maxResult), items
}

// maxResult is the longest result of a turn; the message has all of it.
const maxResult = 1 << 20

func (t *turn) final(id messages.ItemID, kind messages.ItemType, m opencode.Message, text string) messages.Item {
	return messages.Item{
		ID: id, Type: kind, Content: cut(text), ParentID: t.parent, Provider: m.ProviderID, Model: m.ModelID,
		StreamStatus: messages.StreamComplete,
	}
}

// usage sums up what all steps have cost. Input counts what came from the cache too.
func usage(answers []opencode.Message) *messages.Usage {
	var sum messages.Usage
	for _, m := range answers {
		sum.InputTokens += m.Tokens.Input + m.Tokens.CacheRead + m.Tokens.CacheWrite
		sum.OutputTokens += m.Tokens.Output
		sum.ReasoningTokens += m.Tokens.Reasoning
		sum.CacheReadTokens += m.Tokens.CacheRead
	}
	return &sum
}

// left remembers where the session stands after a turn that OpenCode has ended.
func (t *turn) left(answers []opencode.Message) {
	newest := t.feed.newest
	for _, id := range t.feed.asks {
		newest = max(newest, id)
	}
	for _, m := range answers {
		newest = max(newest, m.ID)
	}
	t.room.newest = newest
}

// user is the item of the prompt, which all others answer.
func user(items []*messages.Item) messages.ItemID {
	for _, item := range slices.Backward(items) {
		if item.Type == messages.ItemMessage && item.Role == messages.RoleUser {
			return item.ID
		}
	}
	return ""
}
