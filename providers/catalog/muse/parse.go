package muse

import (
	"cmp"
	"context"
	"path/filepath"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// windows returns how much of a log is read.
func windows() transcript.Windows {
	return transcript.Windows{Whole: 512 << 10, Head: 1 << 20, Tail: 256 << 10, TailMax: 2 << 20}
}

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	id := filepath.Base(filepath.Dir(p.Unit.Path))
	s, tail := &sight{p: p, id: id}, &sight{p: p, id: id, backward: true}
	whole, err := transcript.Ends(f, windows(), func(line bounded.Line) bool {
		s.see(line)
		return s.workspace != "" && s.first != ""
	}, func(line bounded.Line) bool {
		tail.see(line)
		return tail.newest > 0
	})
	if err != nil {
		return err
	}
	changed := p.Believe(f.ModTime.UnixMilli())
	if !whole {
		s.join(tail, changed)
	}
	switch {
	case !s.known:
		p.Skip("", catalog.NotASession)
		return nil
	case !s.talk && whole:
		p.Skip("", catalog.NoConversation)
		return nil
	}
	p.Emit(catalog.Session{
		ID: id, ProjectPath: cmp.Or(s.workspace, s.route, s.observed), Title: s.title, Prompts: transcript.Prompts(s.first, s.last), Recap: s.reply,
		Branch: s.branch, TimeMS: cmp.Or(s.newest, changed), Details: catalog.Details{StartedMS: s.started},
	})
	return nil
}

// sight is what was seen of a log.
type sight struct {
	p        *catalog.Parsing
	id       string
	backward bool

	workspace, route, observed string // directories, by who names them
	title, branch              string
	first, last, reply         string
	newest, started            int64
	known                      bool // there is a record of the session itself
	talk                       bool
}

// join completes what the head of a long log says with what the tail does.
func (s *sight) join(tail *sight, changed int64) {
	if tail.newest == 0 { // Something very long stands at the end.
		tail.newest = changed
	}
	s.workspace, s.route, s.observed = cmp.Or(tail.workspace, s.workspace), cmp.Or(tail.route, s.route), cmp.Or(tail.observed, s.observed)
	s.title, s.branch = cmp.Or(tail.title, s.title), cmp.Or(tail.branch, s.branch)
	s.last, s.reply = cmp.Or(tail.last, s.last), cmp.Or(tail.reply, s.reply)
	s.newest = max(s.newest, tail.newest)
	s.known, s.talk = s.known || tail.known, s.talk || tail.talk
}

// latest sets a field of which the last value counts, when there is a value.
func (s *sight) latest(field *string, value string) {
	if value != "" && (!s.backward || *field == "") {
		*field = value
	}
}

// see takes one line.
func (s *sight) see(line bounded.Line) {
	for r := range unpacked(line.Data) {
		if r.own(s.id) {
			s.record(&r)
		}
	}
}

func (s *sight) record(r *record) {
	s.known = true
	s.newest = s.p.Newest(s.newest, r.at)
	if s.started == 0 {
		s.started = s.p.Believe(r.at)
	}
	switch string(r.kind.Bytes()) {
	case "runtime.session.metadata":
		s.latest(&s.workspace, r.fact("workspace_root").Text(catalog.MaxPathBytes+1))
	case "runtime.session.route_facts":
		s.latest(&s.route, r.fact("cwd").Text(catalog.MaxPathBytes+1))
	case "session.workspace_branch.observed":
		s.latest(&s.observed, r.fact("workspace_root").Text(catalog.MaxPathBytes+1))
		if r.fact("reference.kind").Equal("branch") {
			s.latest(&s.branch, r.fact("reference.name").Text(4*catalog.MaxLabelBytes))
		}
	case "session.name.changed":
		s.latest(&s.title, r.fact("new_name").Text(catalog.MaxTextBytes))
	case "runtime.session":
		if e, ok := r.run(); ok {
			s.event(&e)
		}
	}
}

func (s *sight) event(e *event) {
	switch string(e.kind.Bytes()) {
	case "started":
		prompt := typed(e.prompt.Text(catalog.MaxTextBytes))
		if prompt == "" {
			return
		}
		s.talk = true
		if !s.backward {
			s.first = cmp.Or(s.first, prompt)
		}
		s.latest(&s.last, prompt)
	case "assistant_message_committed":
		s.talk = true
		s.latest(&s.reply, e.text.Text(catalog.MaxTextBytes))
	}
}

// typed drops text that the program itself put in the place of a prompt.
func typed(text string) string {
	return transcript.Typed(text, "<system-reminder>", "<system_reminder>", "<environment_context>")
}
