package opencode

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	maxFileBytes = 4 << 20
	// firstMessages is how many messages are opened to find the first prompt and the directory.
	firstMessages = 4
)

// parseFile reads a session that is kept as JSON. Its first messages are looked at; the folder of messages is one of the unit's files.
func parseFile(ctx context.Context, p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	data, err := f.Bytes(maxFileBytes)
	if err != nil {
		return err
	}
	var s catalog.Session
	var parent, fork string
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "id":
			s.ID = v.Text(catalog.MaxIDBytes + 1)
		case "directory":
			s.ProjectPath = v.Text(catalog.MaxPathBytes + 1)
		case "title":
			s.Title = v.Text(catalog.MaxTextBytes)
		case "parentID":
			parent = v.Text(catalog.MaxIDBytes)
		case "time":
			fileTimes(p, &s, v)
		}
	}
	if s.ID == "" {
		return fmt.Errorf("reading %q: %w", f.Path, bounded.ErrCorrupt)
	}
	s.TimeMS = cmp.Or(s.TimeMS, s.StartedMS, p.Believe(f.ModTime.UnixMilli()))
	kinship(&s, parent, fork)
	if err := firstOf(ctx, p, &s); err != nil {
		return err
	}
	inWorktree(&s)
	p.Emit(s)
	return nil
}

// parseProject emits a fragment with the directory of a project, for sessions that do not tell theirs.
func parseProject(p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	data, err := f.Bytes(maxFileBytes)
	if err != nil {
		return err
	}
	for key, v := range bounded.Fields(data) {
		// The project of all directories that belong to none has the root as its directory.
		if dir := v.Text(catalog.MaxPathBytes + 1); string(key) == "worktree" && dir != "/" && dir != "" {
			id := strings.TrimSuffix(filepath.Base(f.Path), ".json")
			p.Emit(catalog.Session{ProjectPath: dir, Details: catalog.Details{Ref: id}})
		}
	}
	return nil
}

func fileTimes(p *catalog.Parsing, s *catalog.Session, times bounded.Value) {
	for key, v := range bounded.Fields(times.Raw) {
		switch string(key) {
		case "created":
			s.StartedMS = p.Believe(bounded.Millis(v))
		case "updated":
			s.TimeMS = p.Believe(bounded.Millis(v))
		case "archived":
			s.Archived = bounded.Millis(v) > 0
		}
	}
}

// firstOf completes a session from its first messages. One that cannot be read is passed over.
func firstOf(ctx context.Context, p *catalog.Parsing, s *catalog.Session) error {
	messages, err := jsonFiles(ctx, p.Unit.With[0])
	for _, path := range messages[:min(len(messages), firstMessages)] {
		p.Uses(path)
		m, err := readMessage(path)
		if err != nil {
			continue
		}
		s.ProjectPath = cmp.Or(s.ProjectPath, m.directory)
		if !m.user || len(s.Prompts) > 0 {
			continue
		}
		parts, err := m.parts(ctx, p.Uses)
		if err != nil {
			return err
		}
		for _, data := range parts[:min(len(parts), 16)] {
			if part := decodePart(data); part.kind == "text" && !part.machine && len(s.Prompts) == 0 {
				if text := part.text.Text(catalog.MaxTextBytes); strings.TrimSpace(text) != "" {
					s.Prompts = []string{text}
				}
			}
		}
	}
	return err
}

// jsonFiles lists the JSON files of a folder in the order of their names, which is that of their times.
func jsonFiles(ctx context.Context, dir string) ([]string, error) {
	var out []string
	err := bounded.Walk(ctx, dir, bounded.WalkOptions{}, func(e bounded.Entry) {
		if strings.HasSuffix(e.Path, ".json") {
			out = append(out, e.Path)
		}
	}, nil)
	return out, err
}

// fileMessage is a message that is kept as JSON.
type fileMessage struct {
	path, id, directory string
	user                bool
	timeMS              int64
	inline              bounded.Value // parts that stand in the message itself
}

func readMessage(path string) (*fileMessage, error) {
	data, err := bounded.ReadAll(path, maxFileBytes)
	if err != nil {
		return nil, err
	}
	m := &fileMessage{path: path, id: strings.TrimSuffix(filepath.Base(path), ".json")}
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "role":
			m.user = v.Equal("user")
		case "time":
			m.timeMS = bounded.Millis(bounded.Pick(v.Raw, "created"))
		case "path":
			m.directory = bounded.Pick(v.Raw, "cwd").Text(catalog.MaxPathBytes + 1)
		case "metadata":
			m.directory = cmp.Or(m.directory, bounded.Pick(v.Raw, "assistant.path.cwd").Text(catalog.MaxPathBytes+1))
			m.timeMS = cmp.Or(m.timeMS, bounded.Millis(bounded.Pick(v.Raw, "time.created")))
		case "parts":
			m.inline = v
		}
	}
	return m, nil
}

// parts returns the parts of a message, and tells the folders and files where they were looked for.
func (m *fileMessage) parts(ctx context.Context, uses func(path string)) ([][]byte, error) {
	var out [][]byte
	for v := range bounded.Elements(m.inline.Raw) {
		out = append(out, v.Raw)
	}
	if len(out) > 0 {
		return out, nil
	}
	// storage/message/<session>/<message>.json has its parts in storage/part/<message>; the older layout in
	// storage/session/part/<session>/<message>.
	session := filepath.Dir(m.path)
	base := filepath.Join(filepath.Dir(filepath.Dir(session)), "part")
	var paths []string
	for _, dir := range []string{filepath.Join(base, m.id), filepath.Join(base, filepath.Base(session), m.id)} {
		uses(dir)
		found, err := jsonFiles(ctx, dir)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	for _, path := range paths {
		uses(path)
		if data, err := bounded.ReadAll(path, maxFileBytes); err == nil { // One that cannot be read costs itself.
			out = append(out, data)
		}
	}
	return out, nil
}
