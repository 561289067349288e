package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"agentd/actors/internal/session"
	"agentd/messages"
	"agentd/persistence"
	"agentd/presets"
)

// CreateOptions are what a new session starts with. The zero value is good.
type CreateOptions struct {
	// ID is the session's id. Empty means a fresh one. One that is taken, or was deleted, is an error.
	ID messages.SessionID
	// Data is the agent-owned state to start with; each value is one JSON value.
	Data map[string]json.RawMessage
}

// RunOptions tune one turn. The zero value is good.
type RunOptions struct {
	// OnBusy says what to do while a turn runs. Empty means [messages.OnBusyCancel].
	OnBusy messages.OnBusy
	// TurnID is the id of the turn. Empty means a fresh one. A caller that does not know whether its first try arrived repeats
	// it with the same id, and gets the turn that it made.
	TurnID messages.TurnID
	// Callbacks are told what happens. May be nil.
	Callbacks *Callbacks
}

// CreateSession makes a session for an agent and returns when it is durable. The agent need not be registered yet.
func (rt *Runtime) CreateSession(ctx context.Context, agent messages.AgentID, opts CreateOptions) (messages.Head, error) {
	if err := agent.Validate(); err != nil {
		return messages.Head{}, err
	}
	if opts.ID == "" {
		opts.ID = messages.NewSessionID()
	}
	if err := validateData(opts.Data); err != nil {
		return messages.Head{}, err
	}
	create := &creation{created: messages.Created{AgentID: agent, Data: opts.Data}, reply: newCall[messages.Head]()}
	e, err := rt.activate(ctx, opts.ID, create)
	if err != nil {
		return messages.Head{}, fmt.Errorf("creating session %q: %w", opts.ID, err)
	}
	head, err := create.reply.wait(ctx, nil)
	if err != nil {
		if !errors.Is(err, ErrClosing) {
			_ = e.departed(ctx) // Else a second try would find what is left of this one.
		}
		return messages.Head{}, fmt.Errorf("creating session %q: %w", opts.ID, rt.named(err))
	}
	return head, nil
}

func validateData(data map[string]json.RawMessage) error {
	for key, value := range data {
		if key == "" || len(key) > messages.MaxIDBytes || len(value) > session.MaxDataBytes || !json.Valid(value) {
			return fmt.Errorf("data %.40q: give a key of 1 to %d bytes and one JSON value of at most %d bytes", key, messages.MaxIDBytes, session.MaxDataBytes)
		}
	}
	return nil
}

// Session returns a whole session as it is stored, see [SessionView].
func (rt *Runtime) Session(ctx context.Context, id messages.SessionID) (SessionView, error) {
	if err := id.Validate(); err != nil {
		return SessionView{}, err
	}
	if e, ok := rt.live.get(id); ok {
		reply, life := newCall[SessionView](), e.lifetime()
		e.send(viewRequest{reply: reply})
		view, err := reply.wait(ctx, life)
		if err == nil || ctx.Err() != nil {
			return view, err
		}
	}
	doc, err := rt.store.Read(ctx, id)
	if err != nil {
		return SessionView{}, rt.named(err)
	}
	return SessionView{Head: rt.rested(doc.Head), Items: doc.Items}, nil
}

// Page returns items from the end of a session, with the memory of one page. It does not load the session.
func (rt *Runtime) Page(ctx context.Context, id messages.SessionID, query persistence.PageQuery) (persistence.Page, error) {
	if err := id.Validate(); err != nil {
		return persistence.Page{}, err
	}
	page, err := rt.store.Page(ctx, id, query)
	if err != nil {
		return persistence.Page{}, rt.named(err)
	}
	page.Head = rt.rested(page.Head)
	return page, nil
}

// ListSessions returns the heads of all sessions, the latest first, and by name those that cannot be read.
func (rt *Runtime) ListSessions(ctx context.Context) (persistence.Listing, error) {
	listing, err := rt.store.List(ctx)
	if err != nil {
		return persistence.Listing{}, fmt.Errorf("listing sessions: %w", rt.named(err))
	}
	for i := range listing.Sessions {
		listing.Sessions[i] = rt.rested(listing.Sessions[i])
	}
	return listing, nil
}

// rested makes a head say interrupted when no live actor runs its turn: the status on disk outlives a crash.
func (rt *Runtime) rested(head messages.Head) messages.Head {
	if head.Status == messages.SessionRunning {
		if _, runs := rt.Turn(head.ID); !runs {
			return head.Interrupted()
		}
	}
	return head
}

// RunTurn starts a turn and returns its handle as soon as the input is durable; the agent has not been waited for. While another turn runs, it does what
// opts.OnBusy says: with cancel and queue it blocks until the other turn has ended and this one has started, or the context
// ends: then the prompt is taken back, unless its input was just being stored; to know, repeat it with the same TurnID. An unknown session or agent, or a bad input, is an error that names it, and leaves a running turn alone.
func (rt *Runtime) RunTurn(ctx context.Context, id messages.SessionID, input string, opts RunOptions) (*TurnHandle, error) {
	if err := errors.Join(id.Validate(), messages.ValidateInput(input), opts.OnBusy.Validate()); err != nil {
		return nil, fmt.Errorf("running a turn: %w", err)
	}
	if opts.TurnID == "" {
		opts.TurnID = messages.NewTurnID()
	}
	if err := opts.TurnID.Validate(); err != nil {
		return nil, fmt.Errorf("running a turn: %w", err)
	}
	prompt := session.Prompt{Turn: opts.TurnID, Item: messages.NewItemID(), Input: valid(input), OnBusy: opts.OnBusy}
	handle, err := withSession(ctx, rt, id, func(e *entry) (*TurnHandle, error) { return rt.prompt(ctx, e, prompt, opts.Callbacks) })
	if err != nil {
		return nil, fmt.Errorf("running a turn in session %q: %w", id, err)
	}
	return handle, nil
}

func (rt *Runtime) prompt(ctx context.Context, e *entry, prompt session.Prompt, callbacks *Callbacks) (*TurnHandle, error) {
	agent, err := rt.deps.Agents.Get(e.agentID)
	if err != nil {
		return nil, err
	}
	ticket := &promptCall{agent: agent, grace: rt.options.graceOf(agent), callbacks: callbacks}
	ticket.answered = make(chan struct{})
	prompt.Ticket = ticket
	life := e.lifetime()
	e.send(prompt)
	handle, err := ticket.wait(ctx, life)
	if err != nil && ctx.Err() != nil {
		e.send(session.Withdraw{Turn: prompt.Turn})
	}
	return handle, err
}

// Turn returns the handle of the session's active turn, or false.
func (rt *Runtime) Turn(id messages.SessionID) (*TurnHandle, bool) {
	if e, ok := rt.live.get(id); ok {
		if h := e.turn.Load(); h != nil {
			return h, true
		}
	}
	return nil, false
}

// CancelTurn stops the active turn of a session and returns when it has ended. A session without one is left as it is, and that is no error.
func (rt *Runtime) CancelTurn(ctx context.Context, id messages.SessionID) error {
	return rt.cancel(ctx, id, "", "")
}

// cancel stops a turn. What is not live does not run.
func (rt *Runtime) cancel(ctx context.Context, id messages.SessionID, turn messages.TurnID, reason string) error {
	e, ok := rt.live.get(id)
	if !ok {
		return nil
	}
	c, life := newCall[struct{}](), e.lifetime()
	e.send(session.Cancel{Ticket: c, Turn: turn, Reason: reason})
	if _, err := c.wait(ctx, life); err != nil && !errors.Is(err, ErrClosing) {
		return fmt.Errorf("cancelling the turn of session %q: %w", id, err)
	}
	return nil
}

// SetData stores one key of a session's state on behalf of the host. Value is encoded as JSON; nil removes the key.
func (rt *Runtime) SetData(ctx context.Context, id messages.SessionID, key string, value any) error {
	raw, err := encodeData(key, value)
	if err != nil {
		return err
	}
	_, err = withSession(ctx, rt, id, func(e *entry) (struct{}, error) {
		c, life := newCall[struct{}](), e.lifetime()
		e.send(session.SetData{Ticket: c, Key: key, Value: raw})
		return c.wait(ctx, life)
	})
	if err != nil {
		return fmt.Errorf("setting data of session %q: %w", id, err)
	}
	return nil
}

// DeleteSession cancels what runs in a session, and removes it. It returns when the deletion is durable and the files are gone. A
// session that is gone already or unknown is no error. One that cannot be read is one that says so, and stays as it is: its files have to be repaired first.
func (rt *Runtime) DeleteSession(ctx context.Context, id messages.SessionID) error {
	_, err := withSession(ctx, rt, id, func(e *entry) (struct{}, error) {
		c, life := newCall[struct{}](), e.lifetime()
		e.send(session.Delete{Ticket: c})
		if _, err := c.wait(ctx, life); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, e.departed(ctx)
	})
	if errors.Is(err, persistence.ErrNotFound) || errors.Is(err, persistence.ErrDeleted) || errors.Is(err, ErrDeleted) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting session %q: %w", id, err)
	}
	return nil
}

// Subscribe tells what happens in a session, from a sequence number on, without a gap and without a double. A session that somebody listens to stays in memory.
func (rt *Runtime) Subscribe(ctx context.Context, id messages.SessionID, opts SubscribeOptions) (*Subscription, error) {
	sub, err := withSession(ctx, rt, id, func(e *entry) (*Subscription, error) {
		c, life := newCall[*Subscription](), e.lifetime()
		e.send(subscribeRequest{opts: opts, reply: c})
		return c.wait(ctx, life)
	})
	if err != nil {
		return nil, fmt.Errorf("subscribing to session %q: %w", id, err)
	}
	return sub, nil
}

// Flush writes the snapshots of all sessions that have something in the journal. Everything that was acknowledged is durable without it.
func (rt *Runtime) Flush(ctx context.Context) error {
	if rt.stopping.Load() {
		return ErrStopping
	}
	var errs []error
	for _, u := range rt.store.Unfolded() {
		if ctx.Err() != nil {
			errs = append(errs, context.Cause(ctx))
			break
		}
		done := newCall[struct{}]()
		rt.system.Root.Send(rt.snapshotFor(u.Session), foldRequest{id: u.Session, done: done})
		if _, err := done.wait(ctx, rt.stopped); err != nil && !isGone(err) {
			errs = append(errs, rt.named(err))
		}
	}
	return errors.Join(errs...)
}

// Approvals is where a person decides. It is valid until the runtime has stopped.
func (rt *Runtime) Approvals() *Approvals { return rt.approvals }

// WatchApprovals tells of requests that are opened and resolved from now on. What is open already is in [Approvals.Pending].
func (rt *Runtime) WatchApprovals() *ApprovalWatch { return rt.approvalHub.add() }

func (rt *Runtime) approvalsChanged(event ApprovalEvent) { rt.approvalHub.publish(event) }

// Tools is the tool surface of this runtime, for fronts that call tools themselves.
func (rt *Runtime) Tools() *presets.Surface { return rt.surface }

// Presets is the person's face of the presets.
func (rt *Runtime) Presets() *presets.Manager { return rt.deps.Presets }

// Agents are the agents that sessions can name.
func (rt *Runtime) Agents() *Agents { return rt.deps.Agents }

// activate returns the entry of a session, and starts its actor if need be. It does not wait for the session to be loaded.
func (rt *Runtime) activate(ctx context.Context, id messages.SessionID, create *creation) (*entry, error) {
	if err := id.Validate(); err != nil {
		return nil, err
	}
	if rt.stopping.Load() {
		return nil, ErrStopping
	}
	if create == nil {
		if e, ok := rt.live.get(id); ok {
			return e, nil
		}
	}
	reply := newCall[*entry]()
	rt.system.Root.Send(rt.registry, activate{id: id, create: create, reply: reply})
	e, err := reply.wait(ctx, rt.stopped)
	return e, rt.named(err)
}

// named gives an error the name under which callers of a runtime that stops know it.
func (rt *Runtime) named(err error) error {
	if rt.stopping.Load() && (errors.Is(err, ErrClosing) || errors.Is(err, persistence.ErrClosed)) {
		return ErrStopping
	}
	return err
}

// withSession does something with a loaded session. A session that is just leaving memory is woken again: whoever comes at that moment does
// not notice.
func withSession[T any](ctx context.Context, rt *Runtime, id messages.SessionID, do func(*entry) (T, error)) (T, error) {
	var zero T
	for {
		e, err := rt.activate(ctx, id, nil)
		if err != nil {
			return zero, err
		}
		err = e.usable(ctx)
		if ctx.Err() != nil && err != nil {
			return zero, err
		}
		life := e.lifetime() // Of the incarnation that may refuse; the next one has begun, perhaps, when that is known.
		if err != nil && !errors.Is(err, ErrClosing) {
			_ = e.departed(ctx) // The next call tries to load it anew.
		}
		if err == nil {
			var value T
			if value, err = do(e); err == nil {
				return value, nil
			}
		}
		switch {
		case errors.Is(rt.named(err), ErrStopping):
			return zero, ErrStopping
		case !errors.Is(err, ErrClosing) || errors.Is(err, ErrDeleted):
			return zero, err
		}
		select { // It comes back as a new entry, or as a new incarnation of this one.
		case <-life:
		case <-ctx.Done():
			return zero, context.Cause(ctx)
		}
	}
}
