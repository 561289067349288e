// Package ohmypi reads the sessions that Oh My Pi keeps. The program was made from pi and writes the same transcripts, with a
// record in front that holds the title.
//
// # What it knows
//
//   - A session is sessions/<directory>/<time>_<id>.jsonl below ~/.omp/agent.
//   - A transcript in a folder beside it that bears its name is a sub-agent's.
//   - Profiles, which have folders of their own, are not read.
//
// # Promises
//
//   - As in package pi.
package ohmypi
