package presets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"agentd/messages"
)

const (
	// RequestToolName is the surface's own tool, with which a model asks for the approval of a call that it wants to make.
	RequestToolName = "space_agent_request_tool_approval"
	// reservedIDPrefix begins the ids of what the surface itself offers.
	reservedIDPrefix = "agent."
	requestToolID    = "agent.request-tool-approval"
)

const requestToolSchema = `{"type":"object","properties":{` +
	`"tool":{"type":"string","description":"The name of the tool, as you would call it."},` +
	`"arguments":{"type":"object","description":"Exactly the arguments of the call that you want to make."},` +
	`"reason":{"type":"string","description":"Why you need it, in one sentence for the person who decides."}},` +
	`"required":["tool","arguments"],"additionalProperties":false}`

const requestToolDescription = "Asks the person to approve one exact tool call. Use it when a tool answers that an approval is required, " +
	"or is named in your instructions but is not in your list of tools. The answer is approved, denied or approval_required (the person has not decided yet). " +
	"Once it is approved, make the call with exactly the same arguments."

func requestTool() Tool {
	return Tool{
		ID: requestToolID, Name: RequestToolName, Description: requestToolDescription,
		InputSchema: json.RawMessage(requestToolSchema), Risk: messages.RiskNormal, Idempotent: true,
	}
}

// requestArguments are what the request tool takes.
type requestArguments struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Reason    string          `json:"reason"`
}

// requestApproval runs the request tool: it asks ahead for a later call, and waits a while for the person.
func (r *running) requestApproval(ctx context.Context) (Result, error) {
	target, err := r.target()
	if err != nil {
		return r.finish(ctx, failed(messages.CallFailed, err))
	}
	if target.tool.Risk == messages.RiskNormal {
		return r.finish(ctx, r.approved(target.ask()))
	}
	ask := target.ask()
	ask.Ahead = true
	wait := r.surface.options.RequestWait
	if wait < 0 {
		ask.Mode = AskLater
		return r.answerRequest(ctx, ctx, ask)
	}
	ask.Mode = AskWait
	waiting, stop := context.WithTimeout(ctx, wait)
	defer stop()
	return r.answerRequest(ctx, waiting, ask)
}

// answerRequest asks, within the waiting context, and tells the model how it went.
func (r *running) answerRequest(ctx, waiting context.Context, ask Ask) (Result, error) {
	var open Request
	ask.OnPending = func(request Request) error {
		open = request
		return r.record(ctx, Step{Kind: StepRequested, Request: &request})
	}
	decision, err := r.surface.approvals.Request(waiting, ask)
	switch {
	case errors.Is(err, ErrNotRecorded):
		return r.giveUp(ctx, err)
	case err != nil && ctx.Err() != nil:
		return r.finish(ctx, cancelled(ctx))
	case err != nil && errors.Is(err, context.DeadlineExceeded) && open.ID != "":
		return r.finish(ctx, r.stillOpen(ask, open.ID))
	case err != nil:
		return r.giveUp(ctx, fmt.Errorf("asking to approve a call of %q: %w", ask.Name, err))
	case decision.Outcome == OutcomePending:
		return r.finish(ctx, r.stillOpen(ask, decision.RequestID))
	}
	if err := r.record(ctx, Step{Kind: StepDecided, Decision: &decision}); err != nil {
		return r.giveUp(ctx, err)
	}
	if decision.Outcome == OutcomeApproved {
		return r.finish(ctx, r.approved(ask))
	}
	// That the answer is no is not a failure of the asking.
	result := refused(ask, decision)
	return r.finish(ctx, Result{Text: result.Text, Status: messages.CallCompleted})
}

// target reads which call is asked for, and checks it as if it were made.
func (r *running) target() (*running, error) {
	var in requestArguments
	if err := json.Unmarshal(r.args.plain, &in); err != nil {
		return nil, fmt.Errorf("calling %q: %w: %w", RequestToolName, ErrArguments, err)
	}
	if in.Tool == RequestToolName {
		return nil, fmt.Errorf("calling %q: %w: it needs no approval itself", RequestToolName, ErrArguments)
	}
	call := r.call
	call.Name, call.Arguments, call.Reason = in.Tool, in.Arguments, in.Reason
	return r.surface.begin(call)
}

func (r *running) approved(ask Ask) Result {
	fields := askFields(ask, "approved")
	fields["message"] = "Make the call now, with exactly the same arguments."
	return Result{Text: answer(fields), Status: messages.CallCompleted}
}

func (r *running) stillOpen(ask Ask, id messages.RequestID) Result {
	result := approvalRequired(ask, id)
	return Result{Text: result.Text, Status: messages.CallCompleted, RequestID: id}
}
