// Package messages holds the values of agentd that cross a mailbox, a file or a
// wire: ids, items, turns, session documents, journal changes, events, risks and
// tool arguments.
//
// Everybody uses it and it uses nobody: it imports the standard library only. It
// has no behaviour beyond validation, encoding and a few pure rules: how an item
// is upserted ([Item.Merge]), how a session document follows from its changes
// ([Document.Apply]), which of two risks is the stricter ([Stricter]), and what
// text stands for a tool's arguments ([CanonicalArguments], [Fingerprint]).
//
// Promises:
//
//   - Immutability. A value is not changed after it was handed to somebody else. Slices,
//     maps and raw JSON inside a value are shared, so a receiver that wants to change one clones it first.
//   - Sealed sets. [Change] and [EventKind] are closed: a new member is a new
//     schema, and every switch over them is exhaustive.
//   - Spelling. Keys on disk and on the wire are kebab-case (agent-id, call-id,
//     created-at). Times are Unix seconds.
//   - Order. Sequence numbers belong to one session, start at 1 and have no gaps.
//   - Ids. A fresh id of a turn or an item is greater than those that were made before it, as far as the clock tells. That helps to find that it is not there; nothing rests
//     on it.
//   - Purity. Nothing here blocks, or touches the outside; fresh ids alone read the clock and random numbers. Every function is safe for
//     concurrent use on values that nobody changes.
//
// The document of a session is what its changes say, and nothing else:
//
//	doc := messages.NewDocument("agt-ses-1")
//	for i, change := range changes {
//		if err := doc.Apply(uint64(i+1), at, change); err != nil {
//			return err
//		}
//	}
package messages
