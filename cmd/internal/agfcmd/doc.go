// Package agfcmd is the command tree of the session finder. Program agf is this tree; agentd has the same one as "agentd agf".
//
// It is wiring: what is found is package catalog's. Each file that is named after a subcommand is that subcommand; flags.go is what they
// share, answer.go writes envelopes, exit.go says how it ends.
//
// Promises:
//
//   - One envelope. A JSON command (search, show, resume-plan, capabilities, read, doctor --json) writes one line of JSON to standard output, an
//     answer or an error, and nothing else; diagnostics go to standard error.
//   - Exit codes are those of exit.go, which "agf help exit-codes" prints, whatever program the tree is part of.
//   - Nothing is written, but by "list", which keeps parsed heads in the user's cache folder, and by --cache, which asks for that.
//   - Nothing that a store says reaches a terminal with its escapes.
//   - An ended context ends a command soon, without an answer; "mcp" ends properly. A reader that goes away ends a command without a word.
//   - No goroutines.
//
// For example:
//
//	root := agfcmd.New(agfcmd.Params{Version: "1.0.0", In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
//	err := root.ExecuteContext(ctx)
//	os.Exit(agfcmd.ExitCode(err))
package agfcmd
