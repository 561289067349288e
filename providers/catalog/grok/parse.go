package grok

import (
	"cmp"
	"context"
	"path/filepath"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/outline"
)

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	o := outline.New(p)
	line := func(line bounded.Line) { see(o, line) }
	id := filepath.Base(filepath.Dir(p.Unit.Path))
	if p.Unit.Kind == kindChat {
		out, ok, err := o.Alone(line)
		if out.ID, out.ProjectPath = id, directoryOf(p); ok {
			p.Emit(out)
		}
		return err
	}
	hasChat := len(p.Unit.With) > 0 && filepath.Base(p.Unit.With[0]) == chatName
	file, ok, err := outline.ReadState(p, hasChat)
	if err != nil || !ok {
		return err
	}
	s := decodeSummary(p, file.Data)
	if s.id != "" && s.id != id {
		p.Skip("", catalog.Unresumable)
		return nil
	}
	if hasChat {
		o.Beside(p.Unit.With[0], line, nil)
	}
	if s.title == "" && s.messages == 0 && !o.Talked() {
		p.Skip("", catalog.NoConversation)
		return nil
	}
	out := o.Session()
	out.ID = id
	chatMS := out.TimeMS
	s.tell(&out)
	out.ProjectPath = cmp.Or(out.ProjectPath, directoryOf(p))
	out.TimeMS = cmp.Or(out.TimeMS, file.ModifiedMS, chatMS)
	p.Emit(out)
	return nil
}
