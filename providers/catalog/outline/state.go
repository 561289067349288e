package outline

import (
	"errors"
	"io/fs"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// MaxState bounds what is looked at of a file that tells of one session.
const MaxState = 2 << 20

// State is a file of one JSON object that tells of a session.
type State struct {
	// Data is the object, to pick members from. Of a damaged one it is what stands before the damage.
	Data []byte
	// ModifiedMS is the time of the file in Unix milliseconds, 0 when it cannot be true.
	ModifiedMS int64
}

// ReadState reads the unit's file. When there is no object in it, it reports why and returns false; damage behind the start of one is
// reported as well. The error is that of the file.
func ReadState(p *catalog.Parsing) (s State, ok bool, err error) {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return State{}, false, err
	}
	defer func() { _ = f.Close() }()
	data, whole, err := Object(f, MaxState)
	switch {
	case errors.Is(err, ErrForeign):
		p.Skip("", catalog.NotASession)
		return State{}, false, nil
	case err != nil:
		return State{}, false, err
	case !whole:
		p.Skip("", catalog.Corrupt)
	}
	return State{Data: data, ModifiedMS: p.Believe(f.ModTime.UnixMilli())}, true, nil
}

// Beside reads a transcript that lies beside the unit's file and may be missing. One that cannot be read is reported, and
// the outline is then what was seen before.
func (o *Outline) Beside(path string, see func(bounded.Line), done func() bool) {
	f, err := o.p.Open(path)
	if err == nil {
		err = o.Read(f, see, done)
		_ = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.p.Skip(path, catalog.ReasonOf(err))
	}
}
