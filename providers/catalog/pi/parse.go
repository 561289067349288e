package pi

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// KindNested is the kind of a transcript that lies deeper than sessions do.
const KindNested = "nested"

// windows returns how much of a transcript is read.
func windows() transcript.Windows {
	return transcript.Windows{Whole: 512 << 10, Head: 2 << 20, Tail: 64 << 10, TailMax: 1 << 20}
}

// Dialect is how a program that was made from pi differs from it.
type Dialect struct {
	// SaidOnly is true when nothing but what a person or the model said counts as activity, because the program notes other
	// things long after.
	SaidOnly bool
}

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	s, ok, err := ParseTranscript(p, Dialect{})
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
func ParseTranscript(p *catalog.Parsing, d Dialect) (catalog.Session, bool, error) {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return catalog.Session{}, false, err
	}
	defer func() { _ = f.Close() }()
	s, tail := &sight{p: p, dialect: d}, &sight{p: p, dialect: d, backward: true}
	whole, err := transcript.Ends(f, windows(), func(line bounded.Line) bool {
		s.see(line.Data)
		return s.id != "" && s.first != ""
	}, func(line bounded.Line) bool {
		tail.see(line.Data)
		return tail.newest > 0
	})
	if err != nil {
		return catalog.Session{}, false, err
	}
	changed := p.Believe(f.ModTime.UnixMilli())
	if !whole {
		s.join(tail, changed)
	}
	switch {
	case s.id == "":
		reason := catalog.NotASession
		if s.talk {
			reason = catalog.Corrupt // Its first record is lost.
		}
		p.Skip("", reason)
		return catalog.Session{}, false, nil
	case !s.talk && whole:
		p.Skip("", catalog.NoConversation)
		return catalog.Session{}, false, nil
	}
	return s.session(changed), true, nil
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
	dialect  Dialect
	backward bool

	id, cwd, parent string
	depth           float64 // how many sessions stand above the one that was started by another
	name, title     string
	named           bool
	first, last     string
	newest, started int64
	messages        int
	talk            bool
	notes
}

// join completes what the head of a long transcript says with what the tail does.
func (s *sight) join(tail *sight, changed int64) {
	if tail.newest == 0 { // Something very long stands at the end.
		tail.newest = changed
	}
	if tail.named {
		s.name = tail.name
	}
	s.last = cmp.Or(tail.last, s.last)
	s.newest = max(s.newest, tail.newest)
	s.talk = s.talk || tail.talk
	s.notes = s.notes.before(tail.notes)
}

// session makes a session of what was seen; changed is the file's time.
func (s *sight) session(changed int64) catalog.Session {
	out := catalog.Session{
		ID: s.id, ProjectPath: s.cwd, Title: cmp.Or(s.name, s.title), TimeMS: cmp.Or(s.newest, s.started, changed), Prompts: transcript.Prompts(s.first, s.last),
		Branch: s.branch, Recap: s.recap(s.messages), Details: catalog.Details{StartedMS: s.started, Repository: s.repository, Archived: s.archived},
	}
	if parent := idOfName(s.parent); parent != "" && parent != s.id {
		out.Parent, out.Relation = parent, catalog.Fork
	}
	if s.depth > 0 {
		out.NonInteractive, out.Relation = true, catalog.SubAgent
	}
	return out
}

// see takes one line.
func (s *sight) see(data []byte) {
	r := decode(data)
	if !s.dialect.SaidOnly {
		s.newest = s.p.Newest(s.newest, bounded.Millis(r.timestamp))
	}
	switch string(r.kind.Bytes()) {
	case "session":
		if s.id != "" || s.backward {
			return
		}
		s.id, s.cwd = r.id.Text(catalog.MaxIDBytes+1), r.cwd.Text(catalog.MaxPathBytes+1)
		s.parent = r.parent.Text(catalog.MaxPathBytes)
		s.title = cmp.Or(s.title, r.title.Text(catalog.MaxTextBytes))
		s.started = s.p.Believe(bounded.Millis(r.timestamp))
		s.depth, _ = r.depth.Number()
		s.git(r.git, s.backward)
	case "title":
		s.title = cmp.Or(r.title.Text(catalog.MaxTextBytes), s.title)
	case "session_info":
		if !s.backward || !s.named { // One without a name takes it away.
			s.name, s.named = r.name.Text(catalog.MaxTextBytes), true
		}
	case "message":
		s.message(&r)
	case "git_state":
		s.git(r.git, s.backward)
	case "session_state":
		s.state(r.state, s.backward)
	case "agent_status":
		s.status(r.status, s.backward, s.messages)
	}
}

func (s *sight) message(r *record) {
	s.messages++
	m := r.said()
	if at := m.at; m.role.Equal("user") || m.role.Equal("assistant") || !s.dialect.SaidOnly {
		s.newest = s.p.Newest(s.newest, at)
		if s.dialect.SaidOnly && s.p.Believe(at) == 0 {
			s.newest = s.p.Newest(s.newest, bounded.Millis(r.timestamp))
		}
	}
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
