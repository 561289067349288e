// Package agentd reads the sessions that agentd itself keeps in its data directory, without its store: it takes no lock and opens
// nothing for writing, so a running agentd goes on undisturbed.
//
// # What it knows
//
//   - A session is agent-sessions/<id>.json: a line with its head, and a line for each item. What is not folded into it yet
//     lies in the segments of the journal, agent-sessions/journal/<number>.log, which all sessions share. A new session can lie there alone.
//   - A record of the journal is a line with its checksum. One that is torn or does not match was never acknowledged, or is damaged;
//     either way it is passed over.
//   - A deleted session has a tombstone in agent-sessions/deleted, or a record that says so. What "agentd repair" moved
//     aside is not listed.
//   - Sessions have no directory and no title; the result of the last turn is the recap. Whether a person held a session is not stored.
//
// # Promises
//
//   - A snapshot costs what package outline says. A segment of the journal is read whole, up to 1 GiB, whenever it changed.
//   - A transcript is read at once; of a very long one, the newest 64 MiB of text are kept.
//   - See package catalog for what holds for every reader.
package agentd
