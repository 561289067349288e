// Command agentd runs agents in durable sessions, from a terminal or a script.
//
//	agentd run "draw a red circle"
//
// It is wiring: the sessions are package actors', the files package jsonfile's, the tools those of the built-in presets, the agent the local one. Each
// file here that is named after a subcommand is that subcommand; app.go is what they share, host.go starts a runtime, driver.go follows one turn,
// and the printers show it.
//
// Promises:
//
//   - Exit codes are those of exit.go, which "agentd help exit-codes" prints.
//   - JSON lines ("agentd help json-lines") only gain fields and kinds; a reader that ignores what it does not know keeps working.
//   - In a terminal it asks for approvals in place. Anywhere else it never asks: what would need a question is denied, and said.
//   - Nothing that comes from a model, a file or a tool reaches a terminal with its escapes; colour only goes to terminals.
//   - Ctrl-C cancels what runs and lets it end properly. A second one ends the process at once; what was acknowledged is stored all the same.
//   - Commands that only read (sessions list, show, tail, export; presets; approvals; completion) work while another agentd owns the data directory, and disturb nobody.
package main
