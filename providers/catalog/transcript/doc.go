// Package transcript holds what readers of different stores do alike with a conversation: reading a long file at its two
// ends, telling a person's words from the program's, and making text of tool calls and content blocks. The readers
// use it; nobody else does.
//
// # Promises
//
//   - Bounded. [Ends] reads no more than its [Windows] say, and each text has the limit that it was asked for.
//   - No function keeps a reference to what it was given, and none has state.
//   - All text is valid UTF-8.
//
// # Use
//
//	whole, err := transcript.Ends(f, windows, func(line bounded.Line) bool {
//		head.see(line)
//		return head.first != ""
//	}, func(line bounded.Line) bool {
//		tail.see(line)
//		return tail.newest > 0
//	})
package transcript
