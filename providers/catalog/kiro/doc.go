// Package kiro reads the sessions that the Kiro command line keeps, in the stores of its three engines.
//
// # What it knows
//
//   - The first engine keeps conversations in a database, in the table conversations_v2, and before that in conversations, by
//     directory. They have no titles. One in which nothing was said is no session.
//   - The second keeps each session as sessions/cli/<id>.json, which says what it is, with a log of its events beside it.
//   - The third, which the editor shares, keeps it as sessions/<hash of the workspace>/<id>/session.json with messages.jsonl beside it, where
//     the first prompt stands in the record of the start.
//   - A session with a parent was run by a sub-agent. Headless runs cannot be told from others. Branches are recorded rarely.
//   - A session that several engines know is one; the newest account leads.
//
// # Promises
//
//   - Of a conversation in the database the first 256 Ki characters are looked at, and the last 64 Ki.
//   - A log costs its head up to the first prompt, at most 2 MiB, and its last 64 KiB.
//   - See package catalog for what holds for every reader.
package kiro
