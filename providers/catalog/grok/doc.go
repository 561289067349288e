// Package grok reads the sessions that Grok Build keeps.
//
// # What it knows
//
//   - A session is a folder sessions/<directory, percent-encoded>/<id>. Its summary.json tells id, directory, title and times;
//     chat_history.jsonl is what the model is given, the prompts among it. Lines of it have no time.
//   - The id is the folder's name. A summary that names another one belongs to a copy, which Grok Build does not resume.
//   - Without a readable summary the chat is a session, in the directory that the folder above it encodes. The name of a long
//     one is a hash, with the directory in a file .cwd.
//   - What was typed stands between <user_query> marks. Messages with a synthetic_reason, and those that only describe the surroundings, are
//     the program's own.
//   - Hidden sessions and those of sub-agents are non-interactive; parent and fork are told by the summary.
//
// # Promises
//
//   - A chat costs what package outline says.
//   - See package catalog for what holds for every reader.
package grok
