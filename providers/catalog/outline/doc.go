// Package outline reads what a listing needs of one session: a transcript of JSON lines at its two ends, and a small file of
// one JSON object beside it. Readers of session stores use it whose transcripts are such lines.
//
// # Promises
//
//   - A transcript of at most [Whole] bytes is read once, forwards. Of a longer one the head is read up to the first prompt, at most
//     [HeadMax], and then the tail backwards up to the first time, at most [TailMax].
//   - The order in which lines come does not matter to a reader: [First] keeps the value that stands first in the file, [Last]
//     the one that stands last.
//   - A time that cannot be true is not believed, and a damaged line costs itself alone.
//   - A file of one object that is longer than its bound, or damaged, still gives the members in front of that place.
//
// # Use
//
//	o := outline.New(p)
//	err := o.Read(f, func(line bounded.Line) {
//		r := decode(line.Data)
//		o.Time(bounded.Millis(r.timestamp))
//		o.First(&cwd, r.cwd.Text(catalog.MaxPathBytes+1))
//		o.Prompt(r.prompt())
//	}, nil)
//	s := o.Session()
//	s.ID, s.ProjectPath = id, cwd
//	p.Emit(s)
package outline
