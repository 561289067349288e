// Package claude reads the sessions that Claude Code keeps in its configuration folder, those of versions 1 and 2. It is
// also the model for the other readers.
//
// # What it knows
//
//   - A session is a file projects/<encoded directory>/<id>.jsonl. Transcripts alone make a session; the history of typed
//     prompts only completes them, because headless runs and editors do not write it, and it outlives what it names.
//   - The project is the first recorded directory. The folder's name is never decoded: it cannot be.
//   - The name given by a person comes before the title made by the model, and that before the summary of an
//     older version, which can stand in the file of another session.
//   - A sub-agent's log (subagents/agent-*.jsonl, and agent-*.jsonl beside the transcripts) is a part of the session
//     that started it: it has no id that could be resumed. A transcript of nothing but such lines is a non-interactive session
//     that names its parent.
//   - A session is interactive when any of its lines was written by the terminal or an editor.
//
// # Promises
//
//   - A transcript costs its first 16 KiB and its last 32 KiB; more, up to 512 KiB and 1 MiB, only while
//     directory, prompt or time are still missing.
//   - See package catalog for what holds for every reader.
package claude
