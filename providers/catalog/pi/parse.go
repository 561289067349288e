package pi

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// KindNested is the kind of a transcript that lies deeper than sessions do.
const KindNested = "nested"

// The windows of a transcript, in bytes.
const (
	wholeWindow         = 512 << 10
	headMax             = 2 << 20
	tailWindow, tailMax = 64 << 10, 1 << 20
)

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	s, ok, err := ParseTranscript(p)
	if err != nil || !ok {
		return err
	}
	if p.Unit.Kind == KindNested && !strings.Contains(filepath.Base(p.Unit.Path), s.ID) {
		SubAgent(&s, p.Unit.Path)
	}
	p.Emit(s)
	return nil
}

// SubAgent marks a session as one that another one started. The folder of its log bears the name of the other's.
func SubAgent(s *catalog.Session, path string) {
	s.NonInteractive, s.Relation = true, catalog.SubAgent
	if dir := filepath.Base(filepath.Dir(path)); strings.Contains(dir, "_") {
		s.Parent = idOfName(dir)
	}
}

// ParseTranscript reads a transcript. When there is no session in it, it reports why and returns false.
func ParseTranscript(p *catalog.Parsing) (catalog.Session, bool, error) {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return catalog.Session{}, false, err
	}
	defer func() { _ = f.Close() }()
	s := &sight{p: p}
	if f.Size <= wholeWindow {
		s.whole = true
		err = s.forward(f, wholeWindow, false)
	} else {
		err = s.windows(f)
	}
	if err != nil {
		return catalog.Session{}, false, err
	}
	switch {
	case s.id == "":
		reason := catalog.NotASession
		if s.talk {
			reason = catalog.Corrupt // Its first record is lost.
		}
		p.Skip("", reason)
		return catalog.Session{}, false, nil
	case !s.talk && s.whole:
		p.Skip("", catalog.NoConversation)
		return catalog.Session{}, false, nil
	}
	out := catalog.Session{
		ID: s.id, ProjectPath: s.cwd, Title: cmp.Or(s.name, s.title), TimeMS: cmp.Or(s.newest, p.Believe(f.ModTime.UnixMilli())),
		Prompts: slices.DeleteFunc([]string{s.first, s.last}, func(t string) bool { return t == "" }),
		Details: catalog.Details{StartedMS: s.started},
	}
	if parent := idOfName(s.parent); parent != "" && parent != s.id {
		out.Parent, out.Relation = parent, catalog.Fork
	}
	return out, true, nil
}

// idOfName returns the id in the name of a session's file, <time>_<id>.jsonl.
func idOfName(path string) string {
	name := strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".jsonl")
	_, id, ok := strings.Cut(name, "_")
	if !ok {
		return name
	}
	return id
}

// sight is what was seen of a transcript.
type sight struct {
	p        *catalog.Parsing
	backward bool
	whole    bool

	id, cwd, parent string
	name, title     string
	named           bool
	first, last     string
	newest, started int64
	talk            bool
}

// windows reads the head and the tail of a large transcript.
func (s *sight) windows(f *bounded.File) error {
	if err := s.forward(f, headMax, true); err != nil {
		return err
	}
	head := *s
	*s = sight{p: s.p, backward: true}
	for _, limit := range []int64{tailWindow, tailMax} {
		for line, err := range f.Tail(limit) {
			if err != nil {
				return err
			}
			s.see(line.Data)
			if limit == tailMax && s.newest > 0 {
				break
			}
		}
		if s.newest > 0 {
			break
		}
	}
	if s.newest == 0 { // Something very long stands at the end.
		s.newest = max(head.newest, s.p.Believe(f.ModTime.UnixMilli()))
	}
	if !s.named {
		s.name = head.name
	}
	s.id, s.cwd, s.parent, s.title = head.id, head.cwd, head.parent, head.title
	s.first, s.last = head.first, cmp.Or(s.last, head.last)
	s.newest, s.started, s.talk = max(s.newest, head.newest), head.started, s.talk || head.talk
	return nil
}

// forward takes lines in order. With early set it leaves as soon as the first prompt is known.
func (s *sight) forward(f *bounded.File, limit int64, early bool) error {
	for line, err := range f.Head(limit) {
		if err != nil {
			return err
		}
		s.see(line.Data)
		if early && s.id != "" && s.first != "" {
			return nil
		}
	}
	return nil
}

// see takes one line.
func (s *sight) see(data []byte) {
	r := decode(data)
	s.newest = s.p.Newest(s.newest, bounded.Millis(r.timestamp))
	switch string(r.kind.Bytes()) {
	case "session":
		if s.id != "" || s.backward {
			return
		}
		s.id, s.cwd = r.id.Text(catalog.MaxIDBytes+1), r.cwd.Text(catalog.MaxPathBytes+1)
		s.parent = r.parent.Text(catalog.MaxPathBytes)
		s.title = cmp.Or(s.title, r.title.Text(catalog.MaxTextBytes))
		s.started = s.p.Believe(bounded.Millis(r.timestamp))
	case "title":
		s.title = cmp.Or(r.title.Text(catalog.MaxTextBytes), s.title)
	case "session_info":
		if r.name.Exists() && (!s.backward || !s.named) {
			s.name, s.named = r.name.Text(catalog.MaxTextBytes), true
		}
	case "message":
		s.message(&r)
	}
}

func (s *sight) message(r *record) {
	m := r.said()
	s.newest = s.p.Newest(s.newest, m.at)
	s.talk = s.talk || m.role.Equal("assistant")
	prompt := m.prompt()
	if prompt == "" {
		return
	}
	s.talk = true
	if !s.backward {
		s.first = cmp.Or(s.first, prompt)
		s.last = prompt
		return
	}
	s.last = cmp.Or(s.last, prompt)
}
