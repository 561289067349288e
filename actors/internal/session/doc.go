// Package session holds the rules of a session, and nothing else: a [State] and its
// [State.Step], which takes a [Message] (a command from outside, or an event from below) and
// returns the [Effect]s to perform. It has no clock, no I/O, no goroutine and no actor
// library, so that every rule can be read, tested and raced here.
//
// The session actor is its only user: it delivers messages one at a time and performs the
// effects in order. Time comes in with each message; ids come in with the commands.
//
// Promises:
//
//   - One active turn. A second prompt cancels it, waits behind it, or is refused.
//   - Durable first. A turn is started, a reply given and an event published only after the [Commit]
//     that holds its changes was acknowledged. The document never runs ahead of the store.
//   - One commit under way. Changes that come meanwhile are staged and go out together in the next one.
//   - Exactly one ending for each turn. From the moment that a turn is stopping or ending, every other ending is ignored.
//   - Valid history. When a turn ends, drafts are closed and every tool call has exactly one result, which says
//     why if the tool gave none.
//   - Order at the end: the terminal record is durable, the session is idle, the active turn is cleared, and then
//     [Settle] lets the callbacks run.
//   - Faults do not stick. A commit that failed drops what it held and says so to those who wait; the turn fails; the next
//     commit starts from what is stored. An ending that could not be stored is owed and goes in front of the next commit.
//   - Blocking: none. Cost: a step does not depend on the length of the history.
package session
