package actors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"agentd/actors/internal/session"
	"agentd/messages"
	"agentd/presets"
)

// TurnTools are the tools of one turn: the surface, bound to the session, the turn and the agent. Each call and each approval
// becomes durable items of the session, in the order in which they happen.
type TurnTools struct {
	surface *presets.Surface
	turn    *TurnController
	caller  presets.Caller
	// parent is the user's message, which the calls answer.
	parent        messages.ItemID
	artifactDir   string
	workspaceRoot string
}

// ToolCall is one call that an agent makes.
type ToolCall struct {
	// ID is unique in the session. Empty means a fresh one.
	ID messages.CallID
	// Name is the tool's external name.
	Name string
	// Arguments is the JSON text as the model wrote it. Empty means {}.
	Arguments json.RawMessage
	// Reason is why, for the person who decides.
	Reason string
	// NoWait answers approval_required instead of waiting for a person.
	NoWait bool
	// Provider and Model say who wants it, for the history.
	Provider string
	Model    string
	// Recorder is told each step of the call after it is stored. An error of it ends the call, as one of storing does. May be nil.
	Recorder presets.Recorder
}

// List returns the tools that this turn may use now.
func (t *TurnTools) List(ctx context.Context) (presets.Toolset, error) {
	return t.surface.Tools(ctx, t.caller)
}

// Fragments returns the prompt texts of the active presets.
func (t *TurnTools) Fragments(ctx context.Context) ([]presets.Fragment, error) {
	return t.surface.Fragments(ctx, t.caller)
}

// Caller is on whose behalf the tools are called.
func (t *TurnTools) Caller() presets.Caller { return t.caller }

// Call runs one tool and returns what the model is told. A tool that fails, is unknown, denied, badly called or
// interrupted is a result, not an error. It may wait for a person. The error says that the turn has ended, or that the store failed.
func (t *TurnTools) Call(ctx context.Context, tc ToolCall) (presets.Result, error) {
	t.turn.asked.Store(true)
	given := tc.ID != ""
	if !given {
		tc.ID = messages.NewCallID()
	}
	rec := &toolRecorder{tools: t, call: tc, name: callName(t.caller.TurnID, tc.ID, given)}
	result, err := t.surface.Call(ctx, presets.Call{
		Caller: t.caller, CallID: tc.ID, Name: tc.Name, Arguments: tc.Arguments, Reason: tc.Reason,
		ArtifactDir: t.artifactDir, WorkspaceRoot: t.workspaceRoot, NoWait: tc.NoWait, Recorder: rec,
	})
	if err != nil {
		return result, fmt.Errorf("calling tool %q: %w", tc.Name, err)
	}
	return result, rec.settle(result)
}

// toolRecorder makes items of the steps of one call. A call whose item is not there yet gets it with
// the first step, so that a call that needs nobody costs two commits: started, and finished.
type toolRecorder struct {
	tools *TurnTools
	call  ToolCall
	// name is what the items of the call are named after.
	name messages.ItemID
	// begun says that the call's item is stored, settled that its result is.
	begun   bool
	settled bool
	// asked is how many requests the call has waited on.
	asked int
}

// Record implements [presets.Recorder].
func (r *toolRecorder) Record(ctx context.Context, step presets.Step) error {
	if err := r.keep(step); err != nil || r.call.Recorder == nil {
		return err
	}
	return r.call.Recorder.Record(ctx, step)
}

// keep stores a step.
func (r *toolRecorder) keep(step presets.Step) error {
	switch step.Kind {
	case presets.StepRequested:
		event, err := r.event(session.EventApprovalRequested, "itm-request-", requestData{step.Request.ID, *step.Request})
		if err != nil {
			return err
		}
		if r.asked++; r.asked > 1 { // The question got a new id: the old one has a decision of its own.
			event.ID += messages.ItemID("-" + strconv.Itoa(r.asked))
		}
		return r.store(r.callItem(messages.CallPending), event)
	case presets.StepDecided:
		event, err := r.event(session.EventApprovalDecided, "itm-decision-", step.Decision)
		if err != nil {
			return err
		}
		return r.store(r.callItem(messages.CallPending), event)
	case presets.StepStarted:
		return r.store(r.callItem(messages.CallRunning))
	case presets.StepFinished:
		return r.settle(*step.Result)
	default:
		return fmt.Errorf("recording a call of %q: unknown step %q", r.call.Name, step.Kind)
	}
}

// settle stores the result of the call, once.
func (r *toolRecorder) settle(result presets.Result) error {
	if r.settled {
		return nil
	}
	status := result.Status
	if status == "" {
		status = messages.CallCompleted
	}
	if err := r.store(r.callItem(status), r.resultItem(result)); err != nil {
		return err
	}
	r.settled = true
	return nil
}

func (r *toolRecorder) callItem(status messages.CallStatus) messages.Item {
	item := messages.Item{
		ID: "itm-tool-call-" + r.name, Type: messages.ItemToolCall, CallID: r.call.ID, Status: status,
	}
	if !r.begun {
		item.Name, item.Arguments, item.ParentID = valid(r.call.Name), r.arguments(), r.tools.parent
		item.Provider, item.Model = r.call.Provider, r.call.Model
	}
	return item
}

// arguments is the JSON text of the call, cut if it is longer than any tool takes.
func (r *toolRecorder) arguments() string {
	text := r.call.Arguments
	if len(text) == 0 {
		return "{}"
	}
	return valid(string(text[:min(len(text), messages.MaxArgumentBytes)]))
}

func (r *toolRecorder) resultItem(result presets.Result) messages.Item {
	return messages.Item{
		ID: "itm-tool-result-" + r.name, Type: messages.ItemToolResult, Name: valid(r.call.Name), CallID: r.call.ID,
		ParentID: "itm-tool-call-" + r.name, Output: valid(result.Text), IsError: result.IsError,
	}
}

func (r *toolRecorder) event(kind string, prefix messages.ItemID, value any) (messages.Item, error) {
	item, err := eventItem(kind, prefix+r.name, value)
	item.ParentID = "itm-tool-call-" + r.name
	return item, err
}

// callName is what the items of a call are named after, so that the same call always has the same items. Ids that agents give may come again in
// another turn, so the turn is in it then; one that is too long is stood for by its hash.
func callName(turn messages.TurnID, call messages.CallID, given bool) messages.ItemID {
	const room = 32 // For the longest prefix, and a number behind it.
	hash := sha256.Sum256([]byte(string(turn) + "/" + string(call)))
	name := string(call)
	if given {
		name += "-" + hex.EncodeToString(hash[:4])
	}
	if len(name)+room > messages.MaxIDBytes {
		name = hex.EncodeToString(hash[:])
	}
	return messages.ItemID(name)
}

// eventItem makes the item of an event whose content is a value.
func eventItem(kind string, id messages.ItemID, value any) (messages.Item, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return messages.Item{}, fmt.Errorf("encoding %s: %w", kind, err)
	}
	return messages.Item{ID: id, Type: messages.ItemEvent, EventType: kind, Data: data}, nil
}

// requestData is what the item of a request holds.
type requestData struct {
	RequestID messages.RequestID `json:"request-id"`
	presets.Request
}

func (r *toolRecorder) store(items ...messages.Item) error {
	_, err := ask(r.tools.turn, func(c *plainCall) session.Message {
		return session.Record{Ticket: c, Turn: r.tools.turn.run.id, Items: items, Fresh: !r.begun}
	})
	if err == nil {
		r.begun = true
	}
	return err
}

// viewRecorder makes items of what an agent asks for through its view of the presets: there is no call that they belong to.
type viewRecorder struct{ tools *TurnTools }

// Record implements [presets.Recorder].
func (r *viewRecorder) Record(_ context.Context, step presets.Step) error {
	r.tools.turn.asked.Store(true)
	var item messages.Item
	var err error
	switch step.Kind {
	case presets.StepRequested:
		item, err = eventItem(session.EventApprovalRequested, "itm-request-"+messages.ItemID(step.Request.ID), requestData{step.Request.ID, *step.Request})
	case presets.StepDecided:
		item, err = eventItem(session.EventApprovalDecided, "itm-decision-"+messages.ItemID(step.CallID), step.Decision)
	case presets.StepStarted, presets.StepFinished:
		return nil // Nothing runs.
	default:
		return fmt.Errorf("recording an approval: unknown step %q", step.Kind)
	}
	if err != nil {
		return err
	}
	_, err = r.tools.turn.UpsertItem(item)
	return err
}
