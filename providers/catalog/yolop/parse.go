package yolop

import (
	"cmp"
	"context"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/outline"
)

// sight is what was seen of the events of a session.
type sight struct {
	*outline.Outline
	id    string
	title outline.Last
}

// see takes one line.
func (s *sight) see(line bounded.Line) {
	e := decodeEvent(line.Data)
	if !e.of(s.id) {
		return
	}
	s.Time(e.at)
	s.Prompt(e.prompt(catalog.MaxTextBytes))
	switch string(e.kind.Bytes()) {
	case "output.message.completed", "tool.completed":
		s.Reply()
	case "session.title.updated":
		s.Last(&s.title, strings.TrimSpace(bounded.Pick(e.data.Raw, "title").Text(catalog.MaxTextBytes)))
	}
}

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	s := &sight{Outline: outline.New(p), id: idOf(p.Unit.Path)}
	if p.Unit.Kind == kindEvents {
		return s.alone(p)
	}
	file, ok, err := outline.ReadState(p)
	switch {
	case len(p.Unit.With) == 0 && (err != nil || !ok):
		return err
	case err != nil: // The events are left.
		p.Skip("", catalog.ReasonOf(err))
	}
	for _, path := range p.Unit.With {
		s.Beside(path, s.see, nil)
	}
	w := decodeWorkspace(p, file.Data)
	if w.title == "" && w.summary == "" && !s.Talked() {
		p.Skip("", catalog.NoConversation)
		return nil
	}
	out := s.Session()
	logMS := out.TimeMS
	out.ID, out.Title = s.id, cmp.Or(s.title.Text, w.title)
	w.tell(&out, s.Newest())
	out.TimeMS = cmp.Or(out.TimeMS, file.ModifiedMS, logMS)
	p.Emit(out)
	return nil
}

// alone reads the events of a session that has no workspace.
func (s *sight) alone(p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := s.Read(f, s.see, nil); err != nil {
		return err
	}
	if !s.Talked() {
		p.Skip("", catalog.NoConversation)
		return nil
	}
	out := s.Session()
	out.ID, out.Title = s.id, s.title.Text
	p.Emit(out)
	return nil
}
