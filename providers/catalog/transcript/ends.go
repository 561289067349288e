package transcript

import "agentd/providers/catalog/bounded"

// Windows are how much of a file is read, in bytes.
type Windows struct {
	// Whole is the size up to which a file is read from its start to its end.
	Whole int64
	// Head is how much is read at most of the start of a larger one.
	Head int64
	// Tail is how much of its end is read in any case, and TailMax how much when that told nothing. When they are the same, reading
	// ends as soon as it told something.
	Tail, TailMax int64
}

// Ends reads the lines of a file that tell what a listing needs. Those from the start go to head, in order, until it returns
// true: it knows enough. Of a larger file, those from the end go to tail, newest first; it returns whether it knows
// when the last thing happened. When it does not after the window of the tail, that starts again with the greater
// window and ends as soon as it does, so tail must bear to see lines twice. whole tells whether head was
// given the whole file. Ends returns early with a read error.
func Ends(f *bounded.File, w Windows, head, tail func(bounded.Line) bool) (whole bool, err error) {
	whole = f.Size <= w.Whole
	limit := w.Head
	if whole {
		limit = w.Whole
	}
	for line, err := range f.Head(limit) {
		if err != nil {
			return whole, err
		}
		if head(line) && !whole {
			break
		}
	}
	if whole {
		return whole, nil
	}
	for _, limit := range []int64{w.Tail, max(w.Tail, w.TailMax)} {
		dated := false
		for line, err := range f.Tail(limit) {
			if err != nil {
				return whole, err
			}
			if dated = tail(line); dated && limit == w.TailMax {
				break
			}
		}
		if dated || limit >= w.TailMax {
			break
		}
	}
	return whole, nil
}
