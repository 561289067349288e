// Package opencode reads the sessions that OpenCode keeps: in its databases, and as JSON files, as it did before version 1.2.
//
// # What it knows
//
//   - Each channel has a database of its own, opencode.db or opencode-<channel>.db, and OPENCODE_DB names one anywhere. All are read.
//     A resume plan names the database when it is not the usual one.
//   - Version 2 keeps sessions in the table session_v2 beside the older table session, which is frozen then. A session that is in both is
//     read from the newer one.
//   - The JSON files stay after they were moved to a database. A session that a database has is read from there.
//   - A session with a parent was started by that one; a fork names its origin since version 2. One
//     whose parent was deleted is a remnant of it, and not listed. Headless runs cannot be told from others.
//   - A row with an empty title or without a directory is a session all the same.
//
// # Promises
//
//   - Rows are read, not transcripts: prompts are looked up only for the newest 500 sessions and for those that have no title.
//   - See package catalog for what holds for every reader.
package opencode
