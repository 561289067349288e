// Package ledger decides which appends a store takes: fencing by epoch, the expected
// sequence number, harmless repeats, dead handles, limits. It is the part of
// the promises that persistence/memory and persistence/jsonfile share.
//
// Promises:
//
//   - Purity. No I/O, no lock and no clock; a [Session] is guarded by its store.
//   - [Session.Check] changes nothing but the mark of a dead handle; [Session.Apply] is called when the append is durable.
//   - Cost. A check depends on the records of its append alone.
//
// A store commits like this:
//
//	repeat, err := session.Check(&append)
//	if err == nil && !repeat {
//		err = write(append)
//	}
//	if err == nil && !repeat {
//		session.Apply(&append)
//	}
package ledger
