// Package pi reads the sessions that pi keeps, and the transcripts of programs that were made from it.
//
// # What it knows
//
//   - A session is sessions/--<directory>--/<time>_<id>.jsonl; in a session folder that was configured the files lie flat. The
//     folder's name does not tell the directory: its first record does.
//   - The session folder is named by the environment or by the settings; then the usual one is read as well when the settings name it,
//     because older sessions stay there.
//   - A name that a person gave is the title; there is no other one. The last name counts, and an empty one takes it away.
//   - A fork is a file of its own that names its parent's file. Branches within a file are one session.
//   - A log below the folder of a session, without an id in its name, is a sub-agent's. Headless runs and Git branches are not recorded.
//
// # Promises
//
//   - A transcript of more than 512 KiB costs its head up to the first prompt, at most 2 MiB, and its last 64 KiB.
//   - See package catalog for what holds for every reader.
package pi
