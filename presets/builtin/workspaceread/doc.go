// Package workspaceread is the built-in preset "workspace-read": listing, reading and searching files inside the
// workspace of the person. Its risk is filesystem-read.
//
// # Promises
//
//   - Nothing outside of the workspace is seen: paths that leave it, also through symbolic links, are refused by the system (see package folder). Without a workspace the
//     tools refuse.
//   - Nothing is written, and nothing but regular files and folders is opened; a pipe does not hold a call.
//   - Every answer is bounded, and says what was left out and why: "truncated" is set and "note" tells which limit cut it and how to get the rest.
//   - Binary files are told, not shown.
//   - A call ends soon after its context does.
//
// The tools are space_workspace_list, space_workspace_read and space_workspace_search; workspaceread.md tells a model how to use them.
package workspaceread
