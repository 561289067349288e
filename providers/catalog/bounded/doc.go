// Package bounded reads files that nobody vouches for: the session stores of other programs, written by many
// versions, cut by crashes, and sometimes hostile. Every reader of the session finder stands on it.
//
// # Promises
//
//   - Only regular files are opened. A pipe, a socket, a device or a directory is refused with [ErrNotRegular], and
//     opening never blocks.
//   - Nothing is written, created or locked.
//   - Each call has a bound, in bytes, lines, entries or depth, and holds no more memory than its bound.
//   - A line of any length, NUL bytes, invalid UTF-8, a byte order mark, CRLF ends and a torn last line cost at most
//     that one line. Text that leaves the package is valid UTF-8.
//   - Symbolic links are followed, and a directory is entered at most once in a walk, so that a loop ends.
//   - No function keeps a reference to a caller's slice, and none is safe for concurrent use on one value.
//
// # Use
//
// Open a file, run over its first lines and then over its last ones, newest first, and pick members out of each line
// without decoding the rest of it:
//
//	f, err := bounded.Open(path)
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	for line, err := range f.Head(64 << 10) {
//		if err != nil {
//			return err
//		}
//		for key, value := range bounded.Fields(line.Data) {
//			if string(key) == "cwd" {
//				cwd = value.Text(4096)
//			}
//		}
//	}
package bounded
