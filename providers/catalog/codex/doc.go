// Package codex reads the sessions that Codex keeps: its state databases, its rollouts, plain and compressed, the archived
// ones, and its lists of thread names and of typed prompts.
//
// # What it knows
//
//   - A session is a rollout, sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl, or the same below archived_sessions. After some
//     days Codex compresses it to .jsonl.zst. A rollout alone makes a session, and so does one that a database does not know.
//   - The state database (state_<n>.sqlite, the highest n first) completes it: the name, the branch of today, who started it. A row
//     whose rollout is gone is no session: there is nothing to resume.
//   - The name that a person gave comes before the title that was made from the first prompt.
//   - A session is not interactive when it was run by "codex exec" or an SDK, served to a program over MCP, or started by another
//     session. One that a person typed into later is interactive.
//   - The first line of a rollout tells what it is. A fork repeats its parent's first line behind its own.
//   - Old rollouts, whose lines have no envelope, are read too. Those of the TypeScript program (.json) cannot be resumed.
//
// # Promises
//
//   - A plain rollout costs its head up to the first prompt, at most 2 MiB, and its last 32 KiB; of a compressed one
//     at most 16 MiB are unpacked.
//   - A configuration file that cannot be understood is reported, and the default places are read.
//   - See package catalog for what holds for every reader.
package codex
