// Package hermes reads the sessions that Hermes Agent keeps in its database, one for each profile.
//
// # What it knows
//
//   - A profile is a home of its own: the usual one, and profiles/<name> below it. Each has a database state.db with the tables
//     sessions and messages, of which versions added columns. A resume plan names the home when it is not the usual one.
//   - The time of a session is that of its last message; the directory is known since version 26 of the schema, so older sessions
//     have none.
//   - A compression goes on under a new id: a continuation. A branch is a fork. Every other session with a parent was started by it, except
//     one that only follows it in the same chat. Sessions of schedules and tools are non-interactive, as are hidden ones.
//   - Messages that were taken back are left out; those that a compaction put aside stay. What the model thought is left out.
//   - The files in the folder sessions are not read: the program itself does not read them any more.
//
// # Promises
//
//   - Rows are read, not transcripts: prompts are looked up only for the newest 500 sessions and for 5,000 that have no title.
//   - See package catalog for what holds for every reader.
package hermes
