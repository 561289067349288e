package space

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"agentd/messages"
	"agentd/providers/opencode"
)

// EventRetry is the type of the event item that tells that a model call failed and is tried again. A turn has one, which changes. Its data is
// a [Retry].
const EventRetry = "opencode-retry"

// Retry is the data of an event of the type [EventRetry].
type Retry struct {
	// Attempt counts the retries of this call, from 1. It is the one that is to come.
	Attempt int `json:"attempt"`
	// Message is what the model provider said, at most 2000 bytes. It is not trusted.
	Message string `json:"message"`
	// NextAt is when it is tried again, in Unix seconds.
	NextAt int64 `json:"next-at"`
}

// What the model is told when OpenCode asks a person by its own means. Nobody is there to answer; approvals are agentd's.
const (
	noPermission = "Not allowed: OpenCode's own permissions are not used here. Use the tools that are offered to you; " +
		"those that need a person's approval ask for it themselves."
	noQuestion = "Nobody can answer questions here. Decide for yourself, or put the question into your answer."
)

// refusePermission rejects a request with a reason, so that the model goes on. All of the directory is this session's.
func (t *turn) refusePermission(own context.Context, p opencode.Permission) error {
	err := t.link.Client().ReplyPermission(own, p.ID, opencode.ReplyReject, noPermission)
	if err != nil && !errors.Is(err, opencode.ErrPermissionNotFound) {
		return fmt.Errorf("refusing what OpenCode asks for: %w", err)
	}
	return nil
}

// refuseQuestion answers each question with the reason why there is no answer: a rejection would end the turn without one.
func (t *turn) refuseQuestion(own context.Context, q opencode.QuestionRequest) error {
	answers := make([][]string, len(q.Questions))
	for i := range answers {
		answers[i] = []string{noQuestion}
	}
	err := t.link.Client().AnswerQuestion(own, q.ID, answers)
	if err != nil && !errors.Is(err, opencode.ErrQuestionNotFound) {
		err = t.link.Client().RejectQuestion(own, q.ID)
	}
	if err != nil && !errors.Is(err, opencode.ErrQuestionNotFound) {
		return fmt.Errorf("refusing OpenCode's question: %w", err)
	}
	return nil
}

// askedMeanwhile refuses what was asked while no events came.
func (t *turn) askedMeanwhile(own context.Context) error {
	permissions, err := t.link.Client().Permissions(own)
	if err != nil {
		return err
	}
	for _, p := range permissions {
		if err := t.refusePermission(own, p); err != nil {
			return err
		}
	}
	questions, err := t.link.Client().Questions(own)
	if err != nil {
		return err
	}
	for _, q := range questions {
		if err := t.refuseQuestion(own, q); err != nil {
			return err
		}
	}
	return nil
}

// tellRetry shows that a model call failed and will be tried again.
func (t *turn) tellRetry(s opencode.Status) error {
	data, err := json.Marshal(Retry{Attempt: s.Attempt, Message: cutTo(s.Message, maxMessage), NextAt: s.Next.Unix()})
	if err != nil {
		return fmt.Errorf("encoding a retry: %w", err)
	}
	return t.keep([]messages.Item{{
		ID: itemID("itm-retry-", string(t.tc.Turn.ID())), Type: messages.ItemEvent, EventType: EventRetry, Data: data, ParentID: t.parent,
	}})
}
