// Package folder reads and writes files inside one folder that nothing leaves: the artifact folder of a session, or
// the workspace of the person. The built-in tools use it.
//
// # Promises
//
//   - Containment. Every name is looked up through an [os.Root]: a name that leaves the folder, by ".." or by a symbolic link, is
//     refused by the system itself, also when links change meanwhile.
//   - Only regular files are read. A pipe, a device or a socket is refused and never waited for.
//   - Reads are bounded by the caller, and a file that is larger is refused by name, not cut in silence.
//   - [Folder.Replace] is atomic: readers and a crash see the old content or the new one, never a part. It returns when the new one is durable.
//   - Nothing here starts a goroutine. What is opened is closed by [Folder.Close].
package folder
