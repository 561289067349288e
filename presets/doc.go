// Package presets says what an agent may use, and at what risk: presets, the adapters that make their tools, the
// manager that knows which of them are active, the tool surface that lists and calls them, and the port behind which
// a person's approvals live.
//
// Its users: hosts register adapters and presets with a [Manager]; providers list tools with a [Surface] and call
// them through it; agents get a [View]; the approvals actor (package actors) implements [Approvals] with the pure
// rules in actors/internal/approval. It imports messages only and knows no provider and no store.
//
// # One call, step by step
//
//	Surface.Call(ctx, Call) Result
//	  1. the name is looked up among the tools of the active presets of the caller's session
//	  2. the arguments are made canonical and checked against the tool's schema
//	  3. Approvals.Request gives a Decision bound to this call; it may wait for a person   -> Recorder: requested
//	  4. the decision is recorded                                                          -> Recorder: decided
//	  5. the tool is built from its adapter, against the live state of the host
//	  6. the start is recorded, then the tool runs                                         -> Recorder: started
//	  7. the result is bounded and recorded                                                -> Recorder: finished
//
// # Promises
//
//   - Nothing runs uncovered. A tool whose risk is not [messages.RiskNormal] runs only with a decision that names exactly its
//     call: same call id, same session, same fingerprint. The surface compares them once more before it runs anything.
//   - Hidden by default. With [Hidden] an unapproved risky tool is in no list, and a call by its name is refused and not run. With [Gated] it
//     is listed, and a call waits for the person.
//   - One decision, one use. Approving once lets one call run and leaves nothing behind. Only approving always leaves
//     a [Grant], which is listed, may expire and can be revoked.
//   - A tool's risk is the strictest of its adapter's and of every registered preset that names it, active or not.
//   - Order. A recorder is told requested, decided, started, finished, in that order. If it cannot store a step, the next one does
//     not happen: a decision or a start that is not stored means that the tool does not run.
//   - Failures are results. Unknown tools, bad arguments, denials, panics, cancellations and faults of a tool are results for the model, with a
//     cause for the program. [Surface.Call] returns an error only when a step could not be recorded or approvals could not be asked.
//   - Bounds. Arguments are limited to [messages.MaxArgumentBytes], results to [SurfaceOptions.MaxResultBytes]; a result that was cut says so.
//   - Validate, then commit. A refused change of a [Manager] leaves it as it was. What goes in and out is copied.
//   - Change events. One for each effective change, in order, none for a change without effect. A listener that panics hurts nobody else.
//   - Concurrency. Everything here is safe for use by several goroutines. Only methods that take a context may block.
//   - Purity of lists. The three shapes of a tool list come from one [Toolset]: same tools, same order, same names; parameters equal to the input schema.
//
// # Example
//
//	manager, _ := presets.NewManager(nil)
//	manager.RegisterAdapter(presets.Adapter{
//		ID: "clock.now", Name: "space_clock_now", Description: "Tells the time.",
//		InputSchema: json.RawMessage(`{"type":"object"}`),
//		Make: presets.Bind(func(ctx context.Context, env presets.Env, in struct{}) (presets.Result, error) {
//			return presets.Text(time.Now().String()), nil
//		}),
//	})
//	manager.RegisterPreset(presets.Preset{
//		Name: "clock", Risk: messages.RiskNormal, ToolIDs: []string{"clock.now"},
//		Contexts: []presets.Pattern{{}}, Prompt: "Ask the clock for the time.",
//	})
//	surface, _ := presets.NewSurface(manager, approvals, nil)
//	result, err := surface.Call(ctx, presets.Call{Name: "space_clock_now"})
package presets
