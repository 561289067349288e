// Package shell is the built-in preset "shell": running a command of the system's shell in the workspace of the
// person. Its risk is shell.
//
// # Promises
//
//   - The command is what was approved: it runs as it is, by /bin/sh -c (PowerShell on Windows), in a folder of the workspace.
//   - It ends. When its time is up, when the call is cancelled, and also when it ends by itself, everything that it started is killed as
//     one process group and beyond (see package process). Nothing goes on in the background.
//   - Its output is bounded: the beginning and the end are kept, and the answer says how much was left out. stdout and stderr come together,
//     in the order in which they were written.
//   - Its environment is clean: it gets the variables that [BaseEnv] names, those of [Options.PassEnv], and AGENTD_ARTIFACT_DIR. Keys and tokens that this
//     process has are not passed on.
//   - The exit code is a result, not an error: "ok" says whether it is zero.
//
// A command can do whatever the person's account can: read files outside of the workspace, use the network, read what HOME holds. The approval is the guard,
// not a sandbox.
//
// The tool is space_shell_run; shell.md tells a model how to use it.
package shell
