// Package antigravity reads the sessions that the Antigravity command line keeps: an index, a database for each conversation, and a log of
// each that is made for people.
//
// # What it knows
//
//   - The index, conversation_summaries.db, tells title, directory, time and parent. It lags behind: not every conversation is in it.
//   - conversations/<id>.db is what is resumed. It holds protocol buffers, of which a few fields are known: the directory, the conversation above
//     it, what was said and when.
//   - brain/<id>/.system_generated/logs/transcript.jsonl is the log, often empty; transcript_full.jsonl beside it is the longer one. A log
//     without a conversation cannot be resumed, and is not listed.
//   - A conversation with a parent or a depth was started by another one. One that is not in the index counts as
//     non-interactive, unless it tells a directory and nothing above it: headless runs have none.
//   - Ids are UUIDs, in any case of letters. Branches are not recorded. The store cannot be moved.
//
// # Promises
//
//   - A conversation costs its first and last 40 steps, and a log what package outline reads of it.
//   - See package catalog for what holds for every reader.
package antigravity
