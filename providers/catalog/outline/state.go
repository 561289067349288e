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
// reported as well. spare tells that a transcript lies beside it, which can stand for the session alone: then whatever is wrong is reported,
// and what is returned is an empty state and true. The error is that of the file.
func ReadState(p *catalog.Parsing, spare bool) (State, bool, error) {
	s, err := readState(p)
	switch {
	case errors.Is(err, ErrForeign):
		p.Skip("", catalog.NotASession)
		return State{}, spare, nil
	case err != nil && spare:
		p.Skip("", catalog.ReasonOf(err))
		return State{}, true, nil
	default:
		return s, err == nil, err
	}
}

func readState(p *catalog.Parsing) (State, error) {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return State{}, err
	}
	defer func() { _ = f.Close() }()
	data, whole, err := Object(f, MaxState)
	if err != nil {
		return State{}, err
	}
	if !whole {
		p.Skip("", catalog.Corrupt)
	}
	return State{Data: data, ModifiedMS: p.Believe(f.ModTime.UnixMilli())}, nil
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

// Alone reads the unit's file, a transcript that is all there is of a session. When nothing was said in it, it reports that and returns
// false. The error is that of the file.
func (o *Outline) Alone(see func(bounded.Line)) (catalog.Session, bool, error) {
	f, err := o.p.Open(o.p.Unit.Path)
	if err != nil {
		return catalog.Session{}, false, err
	}
	defer func() { _ = f.Close() }()
	if err := o.Read(f, see, nil); err != nil {
		return catalog.Session{}, false, err
	}
	if !o.Talked() {
		o.p.Skip("", catalog.NoConversation)
		return catalog.Session{}, false, nil
	}
	return o.Session(), true, nil
}
