// Package jsonfile is the [persistence.Store] that keeps sessions in files under a data directory. The
// runtime stands on it; people can read what it writes.
//
//	{data-dir}/LOCK                               held while the store is open, with the holder's process id in it
//	{data-dir}/agent-sessions/{session-id}.json   snapshots
//	{data-dir}/agent-sessions/journal/NNNNNNNN.log  segments of the journal, shared by all sessions
//	{data-dir}/agent-sessions/deleted/{session-id}.json  tombstones, a line each, never listed
//	{data-dir}/agent-sessions/tmp/                what is being written; emptied by [Open]
//	{data-dir}/agent-sessions/quarantine/         what [Repair] moved aside
//
// An append goes to the journal, where all sessions share one write and one sync. [Store.Fold] writes a session's snapshot
// from the old one and its records. When every session in a segment is folded past it, the segment goes. The layout of a record
// is told at the type frame, that of a segment at the type header, that of a snapshot beside appendHead.
//
// Promises, beside those of package persistence:
//
//   - One owner. A second process that opens the directory gets [persistence.ErrLocked], with the id of the first where it is known.
//   - Torn ends. What a crash tore at the end of the journal was never acknowledged; it is passed over and reported. A
//     bad line that is provably older is a [persistence.CorruptError] with file and line, and nothing is changed: [Repair] salvages.
//   - One bad session hurts no other. A snapshot that cannot be read makes its session bad, by name, and its file and
//     records stay as they are.
//   - Faults. After a short write the segment is cut back to what was acknowledged. After a failed sync it is trusted no
//     further than that, and the append goes into a fresh segment, once. No fault is sticky.
//   - Privacy. Folders have mode 0700, files 0600.
//   - Names. An id that names a device on some system ("con", "nul") is refused everywhere. Where the file system does not tell "A"
//     from "a", a session whose id differs from a stored one in that alone cannot be created; the file of the first is never overwritten.
//   - Memory. A record in the journal takes a part of 32 bytes, a folded session nothing, but for the last few thousand that were
//     used and for those with a handle that was given out and has stored nothing yet, at about 150 bytes each.
//   - Growth. Sessions that are never at rest may hold back [Options.HeldSegments] full segments. With more, [persistence.Unfolded] names those that need the oldest.
//     A full segment that is folded from is mapped into memory, where the system can do that; a disk that fails under it is an error.
//   - A start shows what stays. [Open] makes durable what it found at the end of the journal; the names of snapshots are durable before a segment goes that
//     they make superfluous.
//   - Cost. Commit does one write and one sync. It never reads a file, unless a session was forgotten.
//   - Repeats are known as long as the session is remembered, which is until well after the append.
//   - Shutdown. [Store.Close] waits for the calls that run, folds every session, and leaves an empty journal.
//
// For example:
//
//	store, err := jsonfile.Open(dataDir, nil)
//	if err != nil {
//		return err
//	}
//	defer store.Close(ctx)
//	handle, err := store.Create(ctx, messages.NewSessionID())
package jsonfile
