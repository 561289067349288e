// Package local is the embedded agent: deterministic, offline, without a model. It understands a small language, calls the tools
// through the surface, asks for an approval where the risk needs one, and answers. It is what a fresh agentd runs, and the fixture of many tests.
//
// An input is one or more commands, one on a line, or with " then " between them:
//
//	draw a red circle              insert a shape; also "at 40,60", "size 20", and #rrggbb as a colour
//	shapes                         list the shapes of the drawing
//	export                         say where the drawing lies
//	list [FOLDER]                  list files of the workspace
//	read FILE                      show a file
//	search TEXT                    find a text in the workspace
//	write FILE TEXT                write a file
//	delete FILE                    delete a file
//	run COMMAND                    run a command in a shell
//	call TOOL JSON                 call any tool with these arguments
//	tools                          list the tools that may be used now
//	say TEXT                       answer with the text
//	wait DURATION                  wait, to see a cancel at work: "wait 10s"
//	help                           show this
//
// Promises:
//
//   - The same input in the same session state makes the same calls and the same answer, in the order of the commands.
//   - Every effect goes through the tool surface. The agent touches nothing itself.
//   - A tool that is not usable yet is asked for first, with its exact arguments; it runs only if a person says yes.
//   - A command that it does not understand calls nothing at all: the answer says what it understands.
//   - A failed or denied call ends the commands behind it; the answer says which one and why, and the turn completes.
//   - It stops at the next step when its turn is cancelled.
package local
