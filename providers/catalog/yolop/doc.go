// Package yolop reads the sessions that Yolop keeps.
//
// # What it knows
//
//   - A session is a folder sessions/session_<digits> below the data folder. Its workspace.json tells directory, title, kind, parent and
//     worktree; events.jsonl is what was said. Without a workspace the events alone are a session, of no known directory.
//   - An older version wrote sessions/session_<digits>.jsonl. Yolop copies it into a folder when it resumes it, and leaves it there.
//   - The id is the folder's name. Lines that bear another session's id do not count; Yolop passes them over as well.
//   - The last title in the events comes before the one in the workspace, which is repaired from it.
//   - Printed, nested, automated and test sessions are non-interactive; nested ones name their parent. Those of editors are interactive.
//
// # Promises
//
//   - A log of events costs what package outline says.
//   - See package catalog for what holds for every reader.
package yolop
