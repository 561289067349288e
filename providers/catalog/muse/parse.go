package muse

import (
	"cmp"
	"context"
	"path/filepath"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/outline"
	"agentd/providers/catalog/transcript"
)

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	s := &sight{Outline: outline.New(p), id: filepath.Base(filepath.Dir(p.Unit.Path))}
	if err := s.Read(f, s.see, func() bool { return s.workspace.Text != "" }); err != nil {
		return err
	}
	switch {
	case !s.known:
		p.Skip("", catalog.NotASession)
		return nil
	case !s.Talked() && s.Whole():
		p.Skip("", catalog.NoConversation)
		return nil
	}
	out := s.Session()
	out.ID, out.Title, out.Branch, out.Recap = s.id, s.title.Text, s.branch.Text, s.reply.Text
	out.ProjectPath = cmp.Or(s.workspace.Text, s.route.Text, s.observed.Text)
	p.Emit(out)
	return nil
}

// sight is what was seen of a log.
type sight struct {
	*outline.Outline
	id    string
	known bool // there is a record of the session itself

	workspace, route, observed outline.Last // directories, by who names them
	title, branch, reply       outline.Last
}

// see takes one line.
func (s *sight) see(line bounded.Line) {
	for r := range unpacked(line.Data) {
		if r.own(s.id) {
			s.record(&r)
		}
	}
}

// latest sets a field of which the last value counts, when there is a value.
func (s *sight) latest(field *outline.Last, value string) {
	if value != "" {
		s.Last(field, value)
	}
}

func (s *sight) record(r *record) {
	s.known = true
	s.Time(r.at)
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
		s.Prompt(typed(e.prompt.Text(catalog.MaxTextBytes)))
	case "assistant_message_committed":
		s.Reply()
		s.latest(&s.reply, e.text.Text(catalog.MaxTextBytes))
	}
}

// typed drops text that the program itself put in the place of a prompt.
func typed(text string) string {
	return transcript.Typed(text, "<system-reminder>", "<system_reminder>", "<environment_context>")
}
