// Package workspacewrite is the built-in preset "workspace-write": writing and editing files inside the workspace of
// the person. Its risk is filesystem-write.
//
// # Promises
//
//   - Nothing outside of the workspace is written: paths that leave it, also through symbolic links, are refused by the system (see package folder). A link is never
//     written through, nor replaced.
//   - The stores of version control (.git, .hg, .svn, .jj) are never written to: a hook there would be a command.
//   - The old content is recoverable: it is durable in the artifact folder of the session before anything changes (see package backup), and the tool
//     space_workspace_restore brings it back, which is a recoverable change too.
//   - Files are replaced whole and atomically, and keep their permissions. A file that somebody else changes meanwhile is left alone.
//   - An edit replaces a text that stands in the file exactly once; else nothing changes and the answer says how often it stands there.
//
// The tools are space_workspace_write, space_workspace_edit, space_workspace_backups and space_workspace_restore; workspacewrite.md tells a model how to use them.
package workspacewrite
