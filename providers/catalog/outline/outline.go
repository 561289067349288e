package outline

import (
	"cmp"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// The windows of a transcript, in bytes.
const (
	// Whole is the longest transcript that is read from its start to its end.
	Whole = 128 << 10
	// Head is what is read at least of the start of a longer one.
	Head = 32 << 10
	// HeadMax is what is read at most of it.
	HeadMax = 2 << 20
	// Tail is what is read at least of its end.
	Tail = 64 << 10
	// TailMax is what is read at most of it.
	TailMax = 1 << 20
)

// Outline is what was seen of a transcript. It serves one reading of one file.
type Outline struct {
	p *catalog.Parsing
	// back is true while lines come newest first.
	back  bool
	whole bool

	first           string
	last            Last
	newest, started int64
	tailTime        bool
	talk            bool
	modified        int64
}

// New returns an empty outline.
func New(p *catalog.Parsing) *Outline { return &Outline{p: p} }

// Read hands the lines of a transcript to see. done, which may be nil, tells whether the head has told everything but the first
// prompt; the head is read on until it has. The error is that of the file. It blocks on the file system.
func (o *Outline) Read(f *bounded.File, see func(bounded.Line), done func() bool) error {
	o.modified = o.p.Believe(f.ModTime.UnixMilli())
	windows := transcript.Windows{Whole: Whole, Head: HeadMax, Tail: Tail, TailMax: TailMax}
	whole, err := transcript.Ends(f, windows, func(line bounded.Line) bool {
		see(line)
		return line.Offset+int64(len(line.Data)) >= Head && o.first != "" && (done == nil || done())
	}, func(line bounded.Line) bool {
		o.back = true
		see(line)
		return o.tailTime
	})
	if err != nil {
		return err
	}
	o.whole = whole
	if !whole && !o.tailTime { // Something very long stands at the end.
		o.newest = max(o.newest, o.modified)
	}
	return nil
}

// Whole reports whether all of the transcript was read.
func (o *Outline) Whole() bool { return o.whole }

// Talked reports whether anything was said.
func (o *Outline) Talked() bool { return o.talk }

// Newest is the newest time that is believed, in Unix milliseconds, or 0.
func (o *Outline) Newest() int64 { return o.newest }

// Time takes the time of a line, in Unix milliseconds.
func (o *Outline) Time(ms int64) {
	if ms = o.p.Believe(ms); ms == 0 {
		return
	}
	o.newest = max(o.newest, ms)
	o.tailTime = o.tailTime || o.back
	if !o.back && (o.started == 0 || ms < o.started) {
		o.started = ms
	}
}

// Prompt takes what a person typed; nothing is taken of an empty text.
func (o *Outline) Prompt(text string) {
	if text == "" {
		return
	}
	o.talk = true
	if !o.back {
		o.first = cmp.Or(o.first, text)
	}
	o.Last(&o.last, text)
}

// Reply notes that the model, or a tool, said something.
func (o *Outline) Reply() { o.talk = true }

// First sets a field of which the first value in the file counts. An empty value changes nothing.
func (o *Outline) First(field *string, value string) {
	if value != "" && (o.back || *field == "") {
		*field = value
	}
}

// Session returns the times and the prompts. Without any time in it, a transcript is as new as its file.
func (o *Outline) Session() catalog.Session {
	return catalog.Session{
		TimeMS:  cmp.Or(o.newest, o.modified),
		Prompts: transcript.Prompts(o.first, o.last.Text),
		Details: catalog.Details{StartedMS: o.started},
	}
}
