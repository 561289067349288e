package gemini

import (
	"bytes"
	"fmt"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	maxProjectsBytes = 16 << 20
	maxLogsBytes     = 32 << 20
)

// parseProjects emits a fragment for each project that the program knows: its path, and the name of its folder.
func parseProjects(p *catalog.Parsing, f *bounded.File) error {
	data, err := f.Bytes(maxProjectsBytes)
	if err != nil {
		return err
	}
	whole := false
	for key, projects := range bounded.Fields(data) {
		if string(key) != "projects" {
			continue
		}
		whole = !projects.Cut && projects.IsObject()
		for path, slug := range bounded.Fields(projects.Raw) {
			if slug.Cut {
				break
			}
			p.Emit(catalog.Session{ProjectPath: text(path), Details: catalog.Details{Ref: slug.Text(512)}})
		}
	}
	if !whole {
		return fmt.Errorf("reading %q: %w", f.Path, bounded.ErrCorrupt)
	}
	return nil
}

// parseTrusted emits a fragment for each directory that a person trusts: projects of old versions are known by their hash
// alone.
func parseTrusted(p *catalog.Parsing, f *bounded.File) error {
	data, err := f.Bytes(maxProjectsBytes)
	if err != nil {
		return err
	}
	for path := range bounded.Fields(data) {
		if name := text(path); name != "" {
			p.Emit(catalog.Session{ProjectPath: name})
		}
	}
	return nil
}

// text decodes a key.
func text(key []byte) string {
	return bounded.Value{Raw: append(append([]byte{'"'}, key...), '"')}.Text(catalog.MaxPathBytes)
}

// parseRoot emits a fragment with the path of the project that a folder belongs to.
func parseRoot(p *catalog.Parsing, f *bounded.File) error {
	data, err := f.Bytes(catalog.MaxPathBytes + 2)
	if err != nil {
		return err
	}
	path := bounded.Clean(bytes.TrimRight(data, "\r\n"))
	if path == "" || strings.ContainsRune(path, 0) {
		return fmt.Errorf("reading %q: %w", f.Path, bounded.ErrCorrupt)
	}
	folder, _ := folderOf(f.Path)
	p.Emit(catalog.Session{ProjectPath: path, Details: catalog.Details{Ref: folder}})
	return nil
}

// parseLogs emits a fragment for each session that a person typed into, with the first prompt and the last.
func parseLogs(p *catalog.Parsing, f *bounded.File) error {
	data, err := f.Bytes(maxLogsBytes)
	if err != nil {
		return err
	}
	index := map[string]int{}
	var all []catalog.Session
	for entry := range bounded.Elements(data) {
		var id, text string
		for key, v := range bounded.Fields(entry.Raw) {
			switch string(key) {
			case "sessionId":
				id = v.Text(catalog.MaxIDBytes + 1)
			case "message":
				text = typed(v.Text(catalog.MaxTextBytes))
			}
		}
		if id == "" || text == "" {
			continue
		}
		i, ok := index[id]
		if !ok {
			i = len(all)
			index[id] = i
			all = append(all, catalog.Session{ID: id})
		}
		all[i].Prompts = append(all[i].Prompts[:min(len(all[i].Prompts), 1)], text)
	}
	for _, s := range all {
		p.Emit(s)
	}
	return nil
}
