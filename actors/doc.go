// Package actors runs durable sessions with agents: the runtime that a host program, the agentd process and the tests stand on.
//
// A host calls [Start] with its services, makes sessions, and runs turns:
//
//	agents := &actors.Agents{}
//	_ = agents.Register("echo", func() (actors.Agent, error) {
//		return actors.AgentFunc(func(ctx context.Context, t *actors.TurnContext) error {
//			return t.Turn.Finish("", messages.Item{Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: t.Input})
//		}), nil
//	})
//	manager, _ := presets.NewManager(nil)
//	rt, err := actors.Start(actors.Deps{Store: memory.New(), Agents: agents, Presets: manager}, nil)
//	head, err := rt.CreateSession(ctx, "echo", actors.CreateOptions{})
//	handle, err := rt.RunTurn(ctx, head.ID, "hello", actors.RunOptions{})
//	turn, err := handle.Wait(ctx)
//
// Inside, it is a tree of actors. Nobody outside this package meets one: callers hold a [*Runtime], a [*TurnHandle] and ids, so that a
// router over several machines can stand behind the same face.
//
//	runtime                      one for each Start; the only root
//	├─ journal                   group-commits the appends of all sessions; blocks in write and fsync only
//	├─ snapshot-0 … snapshot-7   open, fold and remove sessions; a session always goes to the same one
//	├─ approvals                 pending requests, grants, waiters
//	├─ toolsync                  tells those who show tools when what is active or approved has changed
//	└─ registry                  id -> session; the only one that starts them; admission and passivation
//	    └─ session-<id>-<gen>    one for each live session; owns its state; never blocks
//	        └─ turn-<n>          at most one; drives turn after turn; owns the context, the cancel hook, the agent's goroutine
//
// The rules are not here. Those of a session are in actors/internal/session, those of approvals in actors/internal/approval: pure step functions.
// The actors of this package deliver messages to them and perform their effects.
//
// Promises:
//
//   - Order. One turn at a time in a session. Items, events and callbacks come in the order of their sequence numbers.
//   - Durability. What a call acknowledges is durable: a session that was created, the input of a turn before its agent is called, an item that
//     was appended, the end of a turn before anybody hears of it. Drafts are shown at once and stored coalesced; the final version is always stored.
//   - One ending. A turn ends exactly once: completed, failed, cancelled or interrupted. The order is: terminal record durable, session idle, active
//     turn cleared, callbacks. A callback may start the next turn.
//   - Cancel. It does not wait behind prompts or items. The context ends at once, the hook runs once, and after [Options.CancelGrace], or what a [LingeringAgent] asks for, the turn is
//     over even if the agent is not. A hook that fails is told, and the turn is cancelled all the same.
//   - Valid history. When a turn has ended, every tool call has exactly one result.
//   - Crash. At the next start a turn that was running becomes interrupted; its session takes new turns. No tool call is run again by itself.
//   - Isolation. A panic in an agent fails its turn and nothing else; one in a callback is logged. A session's actor that panics restarts from what is stored, at most 3 times
//     in 60 s, and its subscribers are told to resync. A persistence actor restarts with exponential, capped, jittered pauses and loses nothing.
//   - Delivery. A subscriber gets every durable event from its sequence number on, without gap or double, or a [*ResyncError]; drafts may be dropped. No subscriber slows a session.
//   - Blocking. No actor but the journal and the snapshot actors blocks. Sessions share a goroutine for each processor, each session always the same one, so that what is
//     others' code runs elsewhere: agents, hooks, callbacks, syncers, and what their errors say. Every method here that may wait takes a context and obeys it.
//   - Tool lists. What shows tools is told of every change of presets, decisions and grants: once for each burst, one call at a time, on
//     a goroutine of its own. One that hangs or fails hurts nobody else.
//   - Bounds. Live sessions, queued prompts, subscribers' buffers and open approvals are limited; beyond a limit there is an error, not a wait.
//   - Shutdown. [Runtime.Stop] refuses what is new, cancels what runs, waits for every goroutine that this runtime started, folds all sessions and closes the store. What does not stop in
//     time is named and left behind.
//
// Trust: agents get a face of the presets that cannot override, and tools only through the surface. Nothing is logged of prompts, arguments, outputs or secrets.
package actors
