package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/messages"
	"agentd/presets"
)

const (
	// maxQuestions is how many questions to clients may be open at one time. The oldest is forgotten, and asked anew.
	maxQuestions = 256
	// approvalInput is the name of our one question in a call's list of them.
	approvalInput = "approval"
)

// The words with which a person answers.
const (
	sayOnce   = "approve once"
	sayAlways = "approve always"
	sayDeny   = "deny"
)

const approvalForm = `{"type":"object","properties":{` +
	`"decision":{"type":"string","title":"Decision","enum":["` + sayOnce + `","` + sayAlways + `","` + sayDeny + `"],"default":"` + sayDeny + `"},` +
	`"reason":{"type":"string","title":"Reason"}},"required":["decision"]}`

// elicitor asks the person in front of a client whether a call may run.
type elicitor struct {
	approvals presets.Approvals // set at construction

	mu    sync.Mutex
	open  map[string]string // question -> the exact call that it is about
	order []string          // the questions, the oldest first
}

func newElicitor(approvals presets.Approvals) *elicitor {
	return &elicitor{approvals: approvals, open: make(map[string]string)}
}

// ask returns the question that the client is to put to its person, or nil if the call is to go on: because it needs no person, because the
// client cannot ask one, or because the answer is there. An answer is passed on while the call waits for it, so that it is recorded like
// any other.
func (e *elicitor) ask(ctx context.Context, t *ToolServer, req *sdk.CallToolRequest, call *presets.Call) *sdk.CallToolResult {
	if t.surface.Exposure() != presets.Gated || !canElicit(req) {
		return nil
	}
	// If something is wrong with the call, it goes on: it will be refused and recorded.
	verdict, err := t.surface.Check(ctx, *call)
	if err != nil || verdict.State != presets.StateNeedsApproval {
		return nil
	}
	canonical, err := messages.CanonicalArguments(call.Arguments)
	if err != nil {
		return nil
	}
	exact := messages.Fingerprint(call.Name, canonical)
	// The answer counts once, and only for the call that was shown.
	if response, answered := req.Params.InputResponses[approvalInput].(*sdk.ElicitResult); answered && e.take(req.Params.RequestState, exact) {
		call.NoWait = false
		call.Recorder = e.deciding(call.Recorder, answerOf(response, call.Caller, clientName(req)))
		return nil
	}
	return e.question(t, call, canonical, exact)
}

func canElicit(req *sdk.CallToolRequest) bool {
	capabilities := req.ClientCapabilities()
	return capabilities != nil && capabilities.Elicitation != nil && (capabilities.Elicitation.Form != nil || capabilities.Elicitation.URL == nil)
}

func clientName(req *sdk.CallToolRequest) string {
	if info := req.ClientInfo(); info != nil {
		return fmt.Sprintf("the person at %.60s", cmp.Or(info.Name, "an unnamed client"))
	}
	return "the person at an unnamed client"
}

func (e *elicitor) question(t *ToolServer, call *presets.Call, canonical []byte, exact string) *sdk.CallToolResult {
	tool := t.registry.tool(call.Name)
	return &sdk.CallToolResult{
		RequestState: e.put(exact),
		InputRequests: sdk.InputRequestMap{approvalInput: &sdk.ElicitParams{
			Mode:            "form",
			Message:         fmt.Sprintf("The agent wants to call %s (risk: %s) with %s. May it?", call.Name, tool.Risk, visible(messages.Preview(canonical))),
			RequestedSchema: json.RawMessage(approvalForm),
		}},
	}
}

// visible replaces what a person cannot see, such as characters that turn the direction of a text.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

func (e *elicitor) put(exact string) string {
	state := rand.Text()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open[state] = exact
	e.order = append(e.order, state)
	for len(e.open) > maxQuestions {
		delete(e.open, e.order[0])
		e.order = e.order[1:]
	}
	return state
}

// take uses a question up. It reports whether it was about exactly this call.
func (e *elicitor) take(state, exact string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	about, open := e.open[state]
	delete(e.open, state)
	e.order = slices.DeleteFunc(e.order, func(s string) bool { return s == state })
	return open && about == exact
}

// deciding returns a recorder that passes the answer on as soon as the call's request is recorded.
func (e *elicitor) deciding(next presets.Recorder, answer presets.Answer) presets.Recorder {
	return presets.RecorderFunc(func(ctx context.Context, step presets.Step) error {
		if next != nil {
			if err := next.Record(ctx, step); err != nil {
				return err
			}
		}
		if step.Kind != presets.StepRequested {
			return nil
		}
		if err := e.approvals.Decide(ctx, step.Request.ID, answer); err != nil {
			return fmt.Errorf("passing on the answer of %s: %w", answer.Who, err)
		}
		return nil
	})
}

func answerOf(response *sdk.ElicitResult, caller presets.Caller, who string) presets.Answer {
	answer := presets.Answer{Verb: presets.Deny, Who: who}
	if response.Action != "accept" {
		answer.Reason = "The question was not answered."
		return answer
	}
	answer.Reason, _ = response.Content["reason"].(string)
	switch response.Content["decision"] {
	case sayOnce:
		answer.Verb = presets.ApproveOnce
	case sayAlways:
		answer.Verb = presets.ApproveAlways
		answer.Scope = presets.Scope{SessionID: caller.SessionID}
	}
	return answer
}
