package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
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

// notAnswered is the reason of a denial when a client did not say what its person decided.
const notAnswered = "The client's answer was none of those that it was asked for, so the call is not allowed."

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
// any other. A client of the older lifecycle is asked here, and the engine checks its answer.
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
		e.answered(call, answerOf(response, call.Caller, personAt(req)))
		return nil
	}
	params := questionAbout(t, call, canonical)
	if asksBack(req.Session) {
		return &sdk.CallToolResult{RequestState: e.put(exact), InputRequests: sdk.InputRequestMap{approvalInput: params}}
	}
	response, err := req.Session.Elicit(ctx, params)
	switch {
	case ctx.Err() != nil: // The call goes on, and is refused: nobody waits for it any more.
	case err != nil:
		t.options.Logger.Debug("A client did not answer a question as it should.", slog.String("error", err.Error()))
		e.answered(call, presets.Answer{Verb: presets.Deny, Who: clientOf(req), Reason: notAnswered})
	default:
		e.answered(call, answerOf(response, call.Caller, personAt(req)))
	}
	return nil
}

// asksBack reports whether a client is of the newer lifecycle: it gets a question as the result of its call, and calls again with the answer.
func asksBack(session *sdk.ServerSession) bool {
	params := session.InitializeParams()
	return params == nil || params.ProtocolVersion >= firstModern
}

// answered makes the call wait for a decision, and passes the answer on as that.
func (e *elicitor) answered(call *presets.Call, answer presets.Answer) {
	call.NoWait = false
	call.Recorder = e.deciding(call.Recorder, answer)
}

func canElicit(req *sdk.CallToolRequest) bool {
	capabilities := req.ClientCapabilities()
	return capabilities != nil && capabilities.Elicitation != nil && (capabilities.Elicitation.Form != nil || capabilities.Elicitation.URL == nil)
}

// clientOf names the client, for people.
func clientOf(req *sdk.CallToolRequest) string {
	if info := req.ClientInfo(); info != nil && info.Name != "" {
		return fmt.Sprintf("the client %.60s", info.Name)
	}
	return "an unnamed client"
}

// personAt names who answers at the client.
func personAt(req *sdk.CallToolRequest) string {
	return "the person at " + strings.TrimPrefix(clientOf(req), "the client ")
}

func questionAbout(t *ToolServer, call *presets.Call, canonical []byte) *sdk.ElicitParams {
	tool := t.registry.tool(call.Name)
	return &sdk.ElicitParams{
		Mode:            "form",
		Message:         fmt.Sprintf("The agent wants to call %s (risk: %s) with %s. May it?", call.Name, tool.Risk, visible(messages.Preview(canonical))),
		RequestedSchema: json.RawMessage(approvalForm),
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
	case sayDeny:
	default:
		answer.Reason = notAnswered
	}
	return answer
}
