package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"agentd/actors"
	"agentd/messages"
)

// plan is what the agent does in one turn. It is the turn's input.
type plan struct {
	// Number makes the input unique in its session.
	Number int      `json:"number"`
	Steps  []string `json:"steps"`
	End    string   `json:"end"`
}

const agentID messages.AgentID = "busy"

// randomPlan draws a plan.
func randomPlan(rng *rand.Rand, number int) plan {
	p := plan{Number: number}
	kinds := []string{"item", "item", "item", "draft", "draft", "call", "call", "data", "pause", "long"}
	for range rng.IntN(7) {
		p.Steps = append(p.Steps, kinds[rng.IntN(len(kinds))])
	}
	ends := []string{"finish", "finish", "finish", "finish", "return", "fail", "error", "panic", "hang", "hang", "stubborn"}
	p.End = ends[rng.IntN(len(ends))]
	return p
}

func (p plan) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // Text and numbers always encode.
	}
	return string(text)
}

// busyAgent does what the input plans, and tells what was acknowledged to it.
type busyAgent struct{ teller *teller }

// Name implements [actors.Agent].
func (*busyAgent) Name() string { return "busy" }

// Run implements [actors.Agent].
func (a *busyAgent) Run(ctx context.Context, turn *actors.TurnContext) error {
	var p plan
	if err := json.Unmarshal([]byte(turn.Input), &p); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	run := agentRun{teller: a.teller, turn: turn, session: turn.Session.Head.ID, id: turn.Turn.ID()}
	for i, step := range p.Steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := run.step(ctx, i, step); err != nil {
			return err
		}
	}
	return run.end(ctx, p.End)
}

// agentRun is one turn of the agent.
type agentRun struct {
	teller  *teller
	turn    *actors.TurnContext
	session messages.SessionID
	id      messages.TurnID
}

func (r *agentRun) step(ctx context.Context, number int, kind string) error {
	name := fmt.Sprintf("%s-%d", r.id, number)
	switch kind {
	case "item":
		return r.append(messages.ItemID("itm-"+name), "text "+name)
	case "long":
		return r.append(messages.ItemID("itm-"+name), name+strings.Repeat(" long", 2000))
	case "draft":
		return r.draft(messages.ItemID("itm-draft-"+name), name)
	case "call":
		return r.call(ctx, messages.CallID("call-"+name))
	case "data":
		return r.setData("data-"+string(r.id), name)
	default:
		<-time.After(2 * time.Millisecond)
		return nil
	}
}

// setData uses a key of the turn's own: an agent that was left behind may tell late of what was acknowledged long ago.
func (r *agentRun) setData(key, value string) error {
	r.teller.tell(ack{Kind: ackDataAsked, Session: r.session, Key: key, Text: value})
	if err := r.turn.Turn.SetData(key, value); err != nil {
		return err
	}
	r.teller.tell(ack{Kind: ackData, Session: r.session, Key: key, Text: value})
	return nil
}

func (r *agentRun) append(id messages.ItemID, text string) error {
	item, err := r.turn.Turn.AppendItem(messages.Item{ID: id, Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: text})
	if err == nil {
		r.tellItem(item)
	}
	return err
}

// tellItem tells of an item that is final and durable.
func (r *agentRun) tellItem(item messages.Item) {
	r.teller.tell(ack{Kind: ackItem, Session: r.session, Turn: r.id, Item: item.ID, Text: short(item.Content), Seq: item.Seq})
}

func (r *agentRun) draft(id messages.ItemID, text string) error {
	for n := range 4 {
		draft := messages.Item{
			ID: id, Type: messages.ItemReasoning, Content: strings.Repeat(text+" ", n+1), StreamStatus: messages.StreamStreaming,
		}
		if _, err := r.turn.Turn.UpsertItem(draft); err != nil {
			return err
		}
		<-time.After(time.Millisecond)
	}
	item, err := r.turn.Turn.UpsertItem(messages.Item{
		ID: id, Type: messages.ItemReasoning, Content: "final " + text, StreamStatus: messages.StreamComplete,
	})
	if err == nil {
		r.tellItem(item)
	}
	return err
}

func (r *agentRun) call(ctx context.Context, id messages.CallID) error {
	r.teller.tell(ack{Kind: ackCallAsked, Session: r.session, Turn: r.id, Call: id})
	result, err := r.turn.Tools.Call(ctx, actors.ToolCall{ID: id, Name: toolName})
	if err == nil {
		r.teller.tell(ack{Kind: ackCallReturned, Session: r.session, Turn: r.id, Call: id, Text: string(result.Status)})
	}
	return err
}

func (r *agentRun) end(ctx context.Context, how string) error {
	switch how {
	case "finish":
		return r.turn.Turn.Finish("done", messages.Item{
			ID: messages.ItemID("itm-last-" + r.id), Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: "done " + string(r.id),
		})
	case "fail":
		return r.turn.Turn.Fail(errors.New("planned failure"))
	case "error":
		return errors.New("planned error")
	case "panic":
		panic("planned panic")
	case "hang":
		<-ctx.Done()
		return context.Cause(ctx)
	case "stubborn":
		<-ctx.Done()
		<-time.After(2 * cancelGrace)
		return nil
	default:
		return nil
	}
}

// short keeps long text out of the acks: a line has to fit one write to a pipe.
func short(text string) string {
	const most = 200
	return text[:min(len(text), most)]
}
