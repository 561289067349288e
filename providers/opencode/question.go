package opencode

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
)

// QuestionRequest is what a running turn asks the person; it may hold several questions.
type QuestionRequest struct {
	ID, SessionID     string
	Questions         []Question
	MessageID, CallID string
	// Raw is the request as it came.
	Raw string
}

// Question is one question with its choices.
type Question struct {
	Text, Header string
	Options      []QuestionOption
	// Multiple lets the person choose several.
	Multiple bool
}

// QuestionOption is one choice.
type QuestionOption struct{ Label, Description string }

// Questions lists the pending questions of the client's directory.
func (c *Client) Questions(ctx context.Context) ([]QuestionRequest, error) {
	list, err := c.list(ctx, call{op: "listing questions", method: "GET", path: "/question"})
	if err != nil {
		return nil, err
	}
	out := make([]QuestionRequest, len(list))
	for i, doc := range list {
		out[i] = decodeQuestion(doc)
	}
	return out, nil
}

// AnswerQuestion answers a request: the labels chosen, one list for each question.
func (c *Client) AnswerQuestion(ctx context.Context, id string, answers [][]string) error {
	return c.closeQuestion(ctx, id, "reply", map[string]any{"answers": answers})
}

// RejectQuestion dismisses a request; the turn ends.
func (c *Client) RejectQuestion(ctx context.Context, id string) error {
	return c.closeQuestion(ctx, id, "reject", nil)
}

func (c *Client) closeQuestion(ctx context.Context, id, verb string, body any) error {
	op := fmt.Sprintf("answering question %q", id)
	if err := checkID(op, id, ErrQuestionNotFound); err != nil {
		return err
	}
	quiet, err := c.quiet(ctx)
	if err != nil {
		return err
	}
	if quiet {
		pending, err := c.Questions(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(pending, func(q QuestionRequest) bool { return q.ID == id }) {
			return fmt.Errorf("%s: %w", op, ErrQuestionNotFound)
		}
	}
	_, err = c.do(ctx, call{
		op: op, method: "POST", path: "/question/" + id + "/" + verb, body: body, absent: ErrQuestionNotFound,
	})
	return err
}

func decodeQuestion(doc gjson.Result) QuestionRequest {
	q := QuestionRequest{
		ID: doc.Get("id").String(), SessionID: doc.Get("sessionID").String(),
		MessageID: doc.Get("tool.messageID").String(), CallID: doc.Get("tool.callID").String(), Raw: doc.Raw,
	}
	for _, one := range doc.Get("questions").Array() {
		question := Question{
			Text: one.Get("question").String(), Header: one.Get("header").String(), Multiple: one.Get("multiple").Bool(),
		}
		for _, o := range one.Get("options").Array() {
			question.Options = append(question.Options, QuestionOption{
				Label: o.Get("label").String(), Description: o.Get("description").String(),
			})
		}
		q.Questions = append(q.Questions, question)
	}
	return q
}
