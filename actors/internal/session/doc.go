// Package session holds the rules of a session, and nothing else: a [State] and its
// [State.Step], which takes a [Message] (a command from outside, or an event from below) and
// returns the [Effect]s to perform. It has no clock, no I/O, no goroutine and no actor
// library, so that every rule can be read, tested and raced here.
//
// The session actor is its only user: it delivers messages one at a time and performs the
// effects in order. Time comes in with each message; ids come in with the commands.
//
// docs/session_states.md tells the states and the rules, one sentence each; testdata holds a scenario for each of them.
//
// Promises:
//
//   - One active turn. A second prompt cancels it, waits behind it, or is refused. A prompt that is repeated never runs twice.
//   - Durable first. A turn is started, a reply given and an event published only after the [Commit]
//     that holds its changes was acknowledged; drafts alone are shown before. The document never runs ahead of the store.
//   - One commit under way. Changes that come meanwhile are staged and go out together in the next one, as far as the store can take them at once.
//   - Exactly one ending for each turn, and one [Settle]. From the moment that a turn is stopping or ending, every other ending is ignored.
//   - Every ticket is answered exactly once. [Leave] is the last effect but for refusals of what comes later.
//   - Valid history. When a turn ends, drafts are closed and every tool call has exactly one result, which says
//     why if the tool gave none. After a crash at any point the next writer brings that about.
//   - Closed turns. An item is added and changed by its own turn, between its start and its end, and by nobody else.
//   - Order at the end: the terminal record is durable, the session is idle, the active turn is cleared, and then
//     [Settle] lets the callbacks run.
//   - Faults do not stick. A commit that failed drops what it held and says so to those who wait; the turn fails; the next
//     commit starts from what is stored. An ending that could not be stored is owed and goes in front of the next commit.
//   - Bounds. What is over a limit is refused, errors are cut, and what is not UTF-8 is made so, so that an ending can always be stored.
//   - Memory. What a turn is handled in goes to the next one. A state that is idle holds nothing of what it has handled, and [State.Rest] makes it give
//     that memory back.
//   - Blocking: none. Cost: a step does not depend on the length of the history, but for the first prompt and the first item after [Restore],
//     a store fault, and the first update of an item after [State.Items].
//
// A shell drives it like this:
//
//	state, effects := session.Restore(doc, epoch, now, session.Limits{})
//	perform(effects)
//	for msg := range mailbox {
//		perform(state.Step(now(), msg))
//	}
package session
