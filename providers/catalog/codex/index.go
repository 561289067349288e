package codex

import (
	"time"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// indexMax bounds the lists of names and of prompts.
const indexMax = 256 << 20

// parseNames emits a fragment for each thread that has a name. The last name counts.
func parseNames(p *catalog.Parsing, f *bounded.File) error {
	var all fragments
	for line, err := range f.Head(indexMax) {
		if err != nil {
			return err
		}
		var id, name string
		for key, v := range bounded.Fields(line.Data) {
			switch string(key) {
			case "id":
				id = v.Text(catalog.MaxIDBytes + 1)
			case "thread_name":
				name = v.Text(catalog.MaxTextBytes)
			}
		}
		if s := all.of(id); s != nil && !line.Torn {
			s.Title = name
		}
	}
	all.emit(p)
	return nil
}

// parseHistory emits a fragment for each session that a person typed into, with the first and the last prompt.
func parseHistory(p *catalog.Parsing, f *bounded.File) error {
	var all fragments
	for line, err := range f.Head(indexMax) {
		if err != nil {
			return err
		}
		var id, text string
		var seconds float64
		for key, v := range bounded.Fields(line.Data) {
			switch string(key) {
			case "session_id":
				id = v.Text(catalog.MaxIDBytes + 1)
			case "ts":
				seconds, _ = v.Number()
			case "text":
				text = typed(v.Text(catalog.MaxTextBytes))
			}
		}
		s := all.of(id)
		if s == nil {
			continue
		}
		s.TimeMS = max(s.TimeMS, p.Believe(bounded.UnixMillis(int64(min(max(seconds, 0), 1e15)), time.Second)))
		if text != "" && text[0] != '/' {
			s.Prompts = append(s.Prompts[:min(len(s.Prompts), 1)], text)
		}
	}
	all.emit(p)
	return nil
}

// fragments collects one fragment for each id, in the order in which they were seen.
type fragments struct {
	index map[string]int
	list  []catalog.Session
}

// of returns the fragment of an id, or nil when it is none.
func (f *fragments) of(id string) *catalog.Session {
	if !catalog.ValidID(id) {
		return nil
	}
	i, ok := f.index[id]
	if !ok {
		if f.index == nil {
			f.index = map[string]int{}
		}
		i = len(f.list)
		f.index[id] = i
		f.list = append(f.list, catalog.Session{ID: id})
	}
	return &f.list[i]
}

func (f *fragments) emit(p *catalog.Parsing) {
	for _, s := range f.list {
		p.Emit(s)
	}
}
