// Package catalogtest is the suite that every reader of a local session store passes. It is for tests alone.
//
// A test gives it the reader and a function that writes a small sound store; the suite reads that store, and then
// breaks it, file by file and in every way it knows:
//
//	func TestReader(t *testing.T) {
//		t.Parallel()
//		catalogtest.Run(t, catalogtest.Config{Reader: example.New(), Write: writeStore})
//	}
//
//	func FuzzParse(f *testing.F) {
//		catalogtest.Fuzz(f, catalogtest.FuzzConfig{Reader: example.New(), File: ".example/sessions/p/a.jsonl"}, seeds...)
//	}
//
// # What it holds a reader to
//
//   - It finds exactly what is there, with every field that the store tells, under the default root and under a moved one.
//   - Nothing under the home directory is created, changed or removed by any operation.
//   - What a running program has written into the log of a database, and nowhere else yet, is found.
//   - The answer is the same for one worker and for many, from memory and afresh, for a search and for a lookup.
//   - Whatever happens to files between two answers, a catalog that remembers the store answers like one that does not.
//   - A store that does not exist is empty, without a warning. A root that is a link, links that lead back up, and
//     a link to itself change nothing.
//   - A file that is empty, cut, filled with garbage, a folder, a pipe or a dangling link costs at most its own sessions. A byte order
//     mark, CRLF, blank lines, NUL bytes, a huge or a torn line in a JSON-lines file cost none.
//   - A file that grew by a gigabyte costs neither memory nor much time.
//   - What was deleted is gone from the next answer, and a cancelled context ends the work.
//   - Resume modes and plans are well formed; transcripts read forwards and backwards are the same.
package catalogtest
