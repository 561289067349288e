// Package workspacedelete is the built-in preset "workspace-delete": deleting a file, a link or an empty folder of the
// workspace of the person. Its risk is destructive.
//
// # Promises
//
//   - Nothing outside of the workspace is deleted (see package folder): not what a link points to, but the link itself. Not the workspace, not what belongs to version control, and no
//     folder that holds something.
//   - What is deleted is recoverable: it is durable in the artifact folder of the session first (see package backup). A file that is too large to be kept is not deleted.
//     The tool space_workspace_restore of the preset workspace-write brings it back, or a person by hand.
//   - A file that somebody else changes meanwhile is left alone.
//
// The tool is space_workspace_delete; workspacedelete.md tells a model how to use it.
package workspacedelete
