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
		out, ok, err := s.Alone(s.see)
		if out.ID, out.Title = s.id, s.title.Text; ok {
			p.Emit(out)
		}
		return err
	}
	file, ok, err := outline.ReadState(p, len(p.Unit.With) > 0)
	if err != nil || !ok {
		return err
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
