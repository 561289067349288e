// Command agentd runs agents in durable sessions, from a terminal or a script.
//
//	agentd run "draw a red circle"
//
// It is wiring: the sessions are package actors', the files package jsonfile's, the tools those of the built-in presets, the agents the local one and the space agent. Each
// file here that is named after a subcommand is that subcommand; app.go is what they share, host.go starts a runtime, driver.go follows one turn,
// and the printers show it. space.go is the space agent's configuration and its OpenCode, which is started with the agent's first turn.
//
// "agentd mcp" serves the tools of a session to another agent, over stdio or HTTP. There is no model on our side then, and still the calls belong to somebody: for as
// long as clients are served, one turn of the agent "mcp" runs in the session. So a call is an item before it runs and has a
// result after, approvals are recorded with who decided, the turn's end ends what still runs, a crash leaves an interrupted turn, and nobody
// else can start a turn in the session meanwhile. The agent is there in that command only.
//
// Promises:
//
//   - Exit codes are those of exit.go, which "agentd help exit-codes" prints.
//   - JSON lines ("agentd help json-lines") only gain fields and kinds; a reader that ignores what it does not know keeps working.
//   - In a terminal it asks for approvals in place. Anywhere else it never asks: what would need a question is denied, and said.
//   - Nothing that comes from a model, a file or a tool reaches a terminal with its escapes; colour only goes to terminals.
//   - Ctrl-C cancels what runs and lets it end properly. A second one ends the process at once; what was acknowledged is stored all the same.
//   - Standard output of "agentd mcp" holds messages of the protocol and nothing else. Over HTTP it is empty, and standard error has one line when clients can connect.
//   - Over HTTP nobody calls a tool without a secret: the token, or with --anonymous the URL itself. The token is in no log, no message and no argument.
//   - Over HTTP a signal to end is the ordinary end: calls have two seconds, then they are interrupted and recorded, and the exit code is 0.
//   - What no command asks for costs nothing: without the space agent there is no OpenCode, no tool server and no file of theirs.
//   - Commands that only read (sessions list, show, tail, export; presets; approvals; doctor; completion) work while another agentd owns the data directory, and disturb nobody.
package main
