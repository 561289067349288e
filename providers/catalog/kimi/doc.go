// Package kimi reads the sessions that Kimi Code keeps.
//
// # What it knows
//
//   - A session is a folder sessions/<work directory>/<id>. Its state.json tells directory, title and times; earlier builds of version 2
//     kept it in session-meta. agents/main/wire.jsonl is what was said. Without a state, the wire alone is a session.
//   - The folder above it bears a hash and does not tell the directory. Where an old state does not either, session_index.jsonl does.
//   - The id is the folder's name: that is what the program looks up.
//   - The last activity is the newest time in the state or in the wire.
//   - A fork names its source; a child that another session asked for is non-interactive. The wires of sub-agents
//     (agents/<other>/wire.jsonl) are parts of the session. Headless runs are not marked.
//   - The Python program of the same name, which came before, keeps ~/.kimi. Its sessions are not read.
//
// # Promises
//
//   - A wire costs what package outline says.
//   - See package catalog for what holds for every reader.
package kimi
