// Package builtin holds the presets that agentd brings along. Each has a folder with its prompt text beside the code:
// drawing (normal), workspaceread (filesystem-read), workspacewrite (filesystem-write), workspacedelete (destructive) and shell (shell).
//
// Hosts install all of them with [All], or pick some from the folders. They see only the folders that a call names: the artifact folder of its session and the workspace.
//
// # Promises
//
//   - Every preset is active wherever an agent works, and every tool of a risky one waits for approval: what is active is decided by
//     the person's overrides, what may run by approvals.
//   - Nothing here starts a goroutine that outlives its call, keeps state between calls, or writes outside of the two folders; a command of the shell
//     preset does what it does.
//
// # Example
//
//	bundles, err := builtin.All(nil)
//	if err != nil {
//		return err
//	}
//	if err := manager.Install(bundles...); err != nil {
//		return err
//	}
package builtin
