package kimi

import (
	"cmp"
	"context"
	"path/filepath"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/outline"
)

// maxIndexBytes bounds what is read of the index. What was appended last counts, so it is read from its end.
const maxIndexBytes = 64 << 20

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	o := outline.New(p)
	line := func(line bounded.Line) { see(o, line) }
	switch p.Unit.Kind {
	case kindIndex:
		return parseIndex(p)
	case kindWire:
		out, ok, err := o.Alone(line)
		if out.ID = filepath.Base(folderOf(p.Unit.Path)); ok {
			p.Emit(out)
		}
		return err
	}
	file, ok, err := outline.ReadState(p, len(p.Unit.With) > 0)
	if err != nil || !ok {
		return err
	}
	for _, path := range p.Unit.With {
		o.Beside(path, line, nil)
	}
	s := decodeState(p, file.Data)
	if s.lastPrompt == "" && s.title == "" && !o.Talked() {
		p.Skip("", catalog.NoConversation)
		return nil
	}
	out := o.Session()
	out.ID = filepath.Base(folderOf(p.Unit.Path))
	s.tell(&out, o)
	out.TimeMS = cmp.Or(out.TimeMS, file.ModifiedMS)
	p.Emit(out)
	return nil
}

// parseIndex tells the work directory of each session. The last line of a session counts.
func parseIndex(p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	seen := map[string]bool{}
	for line, err := range f.Tail(maxIndexBytes) {
		if err != nil {
			return err
		}
		var s catalog.Session
		deleted := false
		for key, v := range bounded.Fields(line.Data) {
			switch string(key) {
			case "sessionId":
				s.ID = v.Text(catalog.MaxIDBytes)
			case "workDir":
				s.ProjectPath = v.Text(catalog.MaxPathBytes + 1)
			case "deleted":
				deleted = v.IsTrue()
			}
		}
		if s.ID == "" || seen[s.ID] || s.ProjectPath == "" && !deleted {
			continue
		}
		if seen[s.ID] = true; !deleted {
			p.Emit(s)
		}
	}
	return nil
}

// Assemble implements [catalog.Assembler]: it completes sessions from the index.
func (Reader) Assemble(a *catalog.Assembly) []catalog.Session {
	index := map[string]catalog.Session{}
	for _, s := range a.All(kindIndex) {
		index[s.ID] = s
	}
	out := append(a.All(kindState), a.All(kindWire)...)
	for i := range out {
		out[i].ProjectPath = cmp.Or(out[i].ProjectPath, index[out[i].ID].ProjectPath)
	}
	return out
}
