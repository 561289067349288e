// Package approval holds the rules of approvals as a pure state machine: commands and the time go in, effects come
// out. It has no clock, does no I/O, makes up no ids and knows no actor library. The approvals actor delivers commands and performs
// effects; the values are those of package presets.
//
// # Promises
//
//   - Order of rules: policy auto, policy deny, grant, approval ahead, open request, new request. Normal risk is always approved, an
//     unknown risk always denied. Deny beats a grant and an approval ahead, and uses neither up.
//   - One decision, one use. Approving once answers the oldest waiting call and no other; the calls that wait beside it are asked for
//     anew, under a fresh id. Only if no call waits (it was asked ahead) an approval is kept, for exactly one identical call of the same
//     session and agent, until it is used, expires or is released.
//   - Every waiter is answered exactly once, or leaves. An answer names the waiter's own call, session, tool and fingerprint.
//   - Approving always takes effect when the grant is durable: first [Save], then [Saved], then the answers. If saving fails, the request is open as
//     before and the person is told. Revoking takes effect at once and is acknowledged when it is durable.
//   - One [Save] at a time; what is decided meanwhile goes into the next one together.
//   - Bounds. Open requests, waiters, kept approvals and grants are limited (see the Max constants); beyond them the answer is no.
//
// # Use
//
//	state := approval.New(approval.Params{Policy: policy, Grants: grants})
//	for _, effect := range state.Step(now, command) {
//		switch e := effect.(type) {
//		case approval.Answer: // hand e.Decision to e.Waiter; it is done
//		case approval.Wait:   // tell e.Waiter which request it waits on; it may come again with another id
//		case approval.Save:   // store e.Grants, then Step(now, Saved{ID: e.ID, Err: err})
//		case approval.Reply:  // hand e.Err to whoever decided or revoked
//		case approval.Opened: // tell people that e.Request is open, or has changed
//		case approval.Resolved: // tell people that it is not open any more
//		}
//	}
//	// Step(deadline, Tick{}) when state.Deadline() has come.
package approval
