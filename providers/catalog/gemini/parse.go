package gemini

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// windows returns how much of a file of JSON lines is read.
func windows() transcript.Windows {
	return transcript.Windows{Whole: 512 << 10, Head: 2 << 20, Tail: 128 << 10, TailMax: 1 << 20}
}

// The windows of a file of one JSON object, in bytes.
const (
	wholeObject = 4 << 20
	objectHead  = 1 << 20
	objectTail  = 64 << 10
)

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	switch p.Unit.Kind {
	case kindProjects:
		return parseProjects(p, f)
	case kindTrusted:
		return parseTrusted(p, f)
	case kindRoot:
		return parseRoot(p, f)
	case kindLogs:
		return parseLogs(p, f)
	}
	s := &sight{p: p}
	s.folder, _ = folderOf(p.Unit.Path)
	if p.Unit.Kind == kindObject {
		err = s.object(f)
	} else {
		err = s.lines(f)
	}
	if err != nil {
		return err
	}
	s.tell(f)
	return nil
}

// sight is what was seen of a session.
type sight struct {
	p        *catalog.Parsing
	backward bool
	whole    bool

	id, hash, kind, title, dir string
	folder, guessed            string // the folder's name, and the path that it or the hash is of
	looked                     int    // bytes in which a path was looked for
	first, firstID, last       string
	rewind                     string // while going backward: what was said up to this message was taken back
	newest, started            int64
	header, talk, placed       bool
}

// lines reads a file of JSON lines.
func (s *sight) lines(f *bounded.File) error {
	tail := &sight{p: s.p, folder: s.folder, backward: true}
	whole, err := transcript.Ends(f, windows(), func(line bounded.Line) bool {
		s.see(line.Data)
		return s.header && s.first != ""
	}, func(line bounded.Line) bool {
		tail.see(line.Data)
		return tail.newest > 0
	})
	if s.whole = whole; whole || err != nil {
		return err
	}
	if tail.newest == 0 { // Something very long stands at the end.
		tail.newest = s.p.Believe(f.ModTime.UnixMilli())
	}
	s.id, s.hash, s.kind, s.dir = cmp.Or(s.id, tail.id), cmp.Or(s.hash, tail.hash), cmp.Or(s.kind, tail.kind), cmp.Or(s.dir, tail.dir)
	s.title, s.last = cmp.Or(tail.title, s.title), cmp.Or(tail.last, s.last)
	s.newest = max(s.newest, tail.newest)
	s.header, s.talk = s.header || tail.header, s.talk || tail.talk
	return nil
}

// object reads a file that holds one JSON object.
func (s *sight) object(f *bounded.File) error {
	if f.Size <= wholeObject {
		data, err := f.Bytes(wholeObject)
		if err != nil {
			return err
		}
		s.whole = true
		s.see(data)
		return nil
	}
	head, err := window(f, 0, objectHead)
	if err != nil {
		return err
	}
	s.see(head)
	tail, err := window(f, f.Size-objectTail, objectTail)
	if err != nil {
		return err
	}
	// The program indents by two; a member of the object itself is the only one that stands so far left.
	if i := bytes.LastIndex(tail, []byte("\n  \"summary\": ")); i >= 0 {
		s.title = decode(append([]byte("{"), tail[i:]...)).summary.Text(catalog.MaxTextBytes)
	}
	return nil
}

// window reads a piece of a file.
func window(f *bounded.File, off, size int64) ([]byte, error) {
	data := make([]byte, size)
	n, err := f.ReadAt(data, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return bytes.TrimPrefix(data[:n], []byte("\xef\xbb\xbf")), err
}

// see takes one line, or the whole object.
func (s *sight) see(data []byte) {
	r := decode(data)
	s.newest = s.p.Newest(s.newest, bounded.Millis(r.started), bounded.Millis(r.updated), bounded.Millis(r.timestamp))
	if at := s.p.Believe(bounded.Millis(r.started)); s.started == 0 {
		s.started = at
	}
	if r.session.IsString() && (!s.header || r.patch) {
		s.header = true
		s.id = cmp.Or(s.id, r.session.Text(catalog.MaxIDBytes+1))
		s.hash = cmp.Or(s.hash, r.hash.Text(128))
		s.kind = cmp.Or(s.kind, r.kind.Text(64))
		s.place(onlyDirectory(r.directories))
	}
	s.locate(data, &r)
	s.keep(&s.title, r.summary.Text(catalog.MaxTextBytes))
	switch {
	case r.messages.IsArray():
		for v := range bounded.Elements(r.messages.Raw) {
			m := decode(v.Raw)
			s.newest = s.p.Newest(s.newest, bounded.Millis(m.timestamp))
			s.message(&m, r.patch)
		}
	case r.rewind.IsString():
		s.takeBack(r.rewind.Text(128))
	default:
		s.message(&r, false)
	}
}

// locate looks for the project's path in a session that does not say it.
func (s *sight) locate(data []byte, r *record) {
	if s.placed || s.guessed != "" || s.backward || r.patch || s.looked >= guessWindow {
		return
	}
	s.looked += len(data)
	s.guessed = guess(data, s.hash, s.folder)
}

// place takes a directory that the session tells. It is believed when the hash that the session was started with is the
// directory's.
func (s *sight) place(dir string) {
	if s.placed || dir == "" {
		return
	}
	sum := hashOf(dir)
	if s.placed = sum == s.hash || sum == s.folder; s.placed {
		s.dir = dir
	}
}

// keep sets a field of which the last value counts.
func (s *sight) keep(field *string, value string) {
	if value != "" && (!s.backward || *field == "") {
		*field = value
	}
}

// takeBack forgets what was said from a message on.
func (s *sight) takeBack(id string) {
	switch {
	case s.backward:
		s.rewind = cmp.Or(s.rewind, id)
	case id == s.firstID:
		s.first, s.firstID, s.last = "", "", ""
	}
}

// message takes one message. A patched list repeats the conversation, so it tells nothing of the last prompt.
func (s *sight) message(m *record, patched bool) {
	switch {
	case m.role.Equal("gemini"):
		s.talk = s.talk || !patched
		return
	case !m.role.Equal("user"):
		return
	}
	if s.rewind != "" {
		if m.id.Equal(s.rewind) {
			s.rewind = ""
		}
		return
	}
	prompt := m.prompt()
	if prompt == "" {
		if !s.placed {
			s.place(workspace(parts(m.content, 16<<10)))
		}
		return
	}
	s.talk = true
	if s.first == "" && !s.backward {
		s.first, s.firstID = prompt, m.id.Text(128)
	}
	if !patched {
		s.keep(&s.last, prompt)
	}
}

// onlyDirectory returns the directory of a list of one.
func onlyDirectory(list bounded.Value) string {
	var dir string
	n := 0
	for v := range bounded.Elements(list.Raw) {
		dir = v.Text(catalog.MaxPathBytes + 1)
		n++
	}
	if n != 1 {
		return ""
	}
	return dir
}

// tell emits the session, or says why there is none.
func (s *sight) tell(f *bounded.File) {
	folder, parent := folderOf(s.p.Unit.Path)
	switch {
	case !s.header || s.id == "":
		reason := catalog.NotASession
		if s.talk {
			reason = catalog.Corrupt
		}
		s.p.Skip("", reason)
		return
	case !s.talk && s.whole:
		s.p.Skip("", catalog.NoConversation)
		return
	}
	out := catalog.Session{
		ID: s.id, TimeMS: cmp.Or(s.newest, s.p.Believe(f.ModTime.UnixMilli())), Title: s.title,
		Prompts: transcript.Prompts(s.first, s.last),
		Details: catalog.Details{StartedMS: s.started},
	}
	if s.kind == "subagent" || parent != "" {
		out.NonInteractive, out.Parent, out.Relation = true, parent, catalog.SubAgent
	}
	out.ProjectPath = cmp.Or(s.dir, s.guessed)
	out.Ref = placeOf(folder, s.hash)
	s.p.Emit(out)
}

// hashOf is how the program names a directory that it must not spell out.
func hashOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}
