// Package cursor reads the sessions that the Cursor command line keeps: a small database for each chat, the side file that recent
// versions put beside it, and transcripts.
//
// # What it knows
//
//   - A session is chats/<MD5 of the directory>/<id>/store.db. The side file meta.json tells title, directory, times and whether a
//     sub-agent ran it; without it, the database does: its name, and what the first messages say.
//   - Transcripts, projects/<name>/agent-transcripts, complete a session, and prove when it was last used. One without a chat belongs to
//     the editor, and the command line refuses to resume it. Old ones in plain text are listed, as far as they can be read.
//   - A folder's name does not tell the directory, but the directory of another chat can be the one that the name was made from.
//   - A sub-agent's transcript lies below the one of the session that started it.
//   - Branches and headless runs are not recorded.
//
// # Promises
//
//   - A chat costs the messages up to the first prompt, and at most 30 from its end.
//   - See package catalog for what holds for every reader.
package cursor
