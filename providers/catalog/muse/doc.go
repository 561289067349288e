// Package muse reads the sessions that Muse Code keeps: a log of events for each.
//
// # What it knows
//
//   - A session is sessions/<year>/<month>/<day>/<id>/session.jsonl. Its own records name it as their stream; the others in the log are of
//     tasks and sub-agents, and no part of the conversation. A record can stand in a frame, as a text.
//   - The directory is the last one that the metadata names, else the one that routes or the observed branch do. The name
//     that was given last is the title, and the last thing that the model said the recap.
//   - A prompt is the start of a run. Tasks start alike without one.
//   - A log below the folder of a session is a sub-agent's; the program refuses to resume it, so it is a part of that session.
//   - The log does not tell whether a person sat before the program, nor what a fork was made from.
//
// # Promises
//
//   - A log costs what package outline reads of it.
//   - See package catalog for what holds for every reader.
package muse
