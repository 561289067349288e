// Package persistence is the port behind which sessions are stored: [Store], its
// values, and its errors. Adapters are persistence/jsonfile (files under a data
// directory) and persistence/memory. testkit/storetest is the suite that each of
// them passes.
//
// The runtime's persistence actors are the only writers. A session is written by
// one writer at a time, through a [Handle] with an epoch. Its state is the fold of
// its records ([messages.Document]); there is nothing else to store.
//
// Promises of every store:
//
//   - Durability. When [Store.Commit] reports no error for an append, its records survive a crash of
//     the process and, as far as the disk keeps its word, of the machine.
//   - Atomicity. An append is stored whole or not at all.
//   - Order. Sequence numbers of a session are chosen by the writer, start at 1 and have no gaps. An append
//     that does not follow the last stored number is refused with [ErrConflict], and its handle is dead.
//   - Single writer. Opening a session again fences the older handle: its appends fail with [ErrFenced].
//     A dead handle never refreshes itself. The first record of each epoch says so
//     ([messages.Created] or [messages.Opened]).
//   - Harmless repeats. Committing an append again with the same id and the same records succeeds and stores nothing
//     new, so a writer may repeat what ended in [ErrUnknown].
//   - Prefix reads. A reader sees the session up to some record, never a hole. It never sees what was refused.
//   - Tombstones. A deleted session cannot be brought back by a stale writer, nor by a new one.
//   - No sticky fault. After any error the next append may succeed, and everything that was
//     acknowledged stays readable.
//   - Blocking. Every method may block in I/O; all are safe for concurrent use. A handle has at most one append under way.
//   - Bounds. A record is at most [MaxRecordBytes]. The cost of an append does not depend on the length of the session.
//   - Shutdown. [Store.Close] folds what is unfolded; after it every call fails with [ErrClosed].
package persistence
