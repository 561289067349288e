// Package memory is a [persistence.Store] that keeps everything in memory: for tests, and for
// hosts that want sessions that end with the process. It has no settings.
//
// Promises, beside those of package persistence:
//
//   - Durability ends with the process. Commit never fails for a reason of its own.
//   - Cost. An append copies the encoded records and decodes nothing. The first read after it
//     decodes what is new, once; a read copies the item headers, not their text.
//   - Concurrency. Sessions do not wait for each other.
//   - Blocking. Nothing blocks in I/O.
//
// For example:
//
//	store := memory.New()
//	handle, err := store.Create(ctx, "agt-ses-1")
package memory
