// Package backup keeps what the tools that change the workspace are about to overwrite or delete, so that a person or an agent can bring it
// back.
//
// A backup is a folder in the artifact folder of the session:
//
//	{artifact folder}/backups/000001/entry.json   what it was: path, kind, size, SHA-256, which tool, when
//	{artifact folder}/backups/000001/content      the old content, if it was a file
//
// To restore one by hand, copy the content to the path that entry.json names.
//
// # Promises
//
//   - Before. [Store.Keep] returns when the backup is durable; the tools change nothing before that.
//   - Whole. A backup is there with all its parts or not at all, also after a crash.
//   - Restoring is a change like another: what stands in the place is kept first.
//   - Bounds: at most [MaxEntries] backups of a session, each of at most [MaxContentBytes].
package backup
