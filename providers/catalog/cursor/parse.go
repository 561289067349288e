package cursor

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
	"agentd/providers/catalog/transcript"
)

const (
	maxSideBytes = 1 << 20
	// promptVisits is how many messages are looked at from each end for a prompt.
	promptVisits = 30
	// unnamed is the name of a chat that nobody named.
	unnamed = "New Agent"
)

// weakTime marks, in Details.Ref of a chat's fragment, that the time is only the file's.
const weakTime = "~"

// Parse implements [catalog.Reader].
func (Reader) Parse(ctx context.Context, p *catalog.Parsing) error {
	switch p.Unit.Kind {
	case kindTranscript, kindSubAgent, kindLeftSubAgent:
		return parseTranscript(p)
	case kindText, kindLeftText:
		return parseText(p)
	default:
		return parseChat(ctx, p)
	}
}

// side is what the side file tells.
type side struct {
	known, empty, subAgent bool
	title, cwd             string
	created, updated       int64
}

// readSide reads the side file. One that is not there or cannot be understood tells nothing.
func readSide(p *catalog.Parsing, path string) side {
	var s side
	data, err := bounded.ReadAll(path, maxSideBytes)
	if err != nil {
		return s
	}
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "title":
			s.title = v.Text(catalog.MaxTextBytes)
		case "cwd":
			s.cwd = v.Text(catalog.MaxPathBytes + 1)
		case "createdAtMs":
			s.created = p.Believe(bounded.Millis(v))
		case "updatedAtMs":
			s.updated = p.Believe(bounded.Millis(v))
		case "hasConversation":
			s.empty = string(v.Raw) == "false"
		case "isSubagent":
			s.subAgent = v.IsTrue()
		default:
			continue
		}
		s.known = true
	}
	return s
}

// chat is what the database tells.
type chat struct {
	name, root, cwd, first, last string
	created                      int64
	known, talk                  bool
}

// parseChat reads a chat's database, and the side file.
func parseChat(ctx context.Context, p *catalog.Parsing) error {
	side := readSide(p, p.Unit.With[0])
	var c chat
	err := database.View(ctx, p.Unit.Path, func(ctx context.Context, db *database.DB) error {
		c = chat{}
		if err := c.header(ctx, db); err != nil || !c.known {
			return err
		}
		return c.conversation(ctx, db)
	})
	switch {
	case err != nil:
		return err
	case !c.known:
		p.Skip("", catalog.Unsupported)
		return nil
	case side.known && side.empty && !c.talk, !side.known && !c.talk && (c.name == "" || c.name == unnamed):
		p.Skip("", catalog.NoConversation)
		return nil
	}
	if c.name == unnamed {
		c.name = ""
	}
	c.created = p.Believe(c.created)
	s := catalog.Session{
		ID: filepath.Base(filepath.Dir(p.Unit.Path)), ProjectPath: cmp.Or(side.cwd, c.cwd), Title: cmp.Or(side.title, c.name), TimeMS: side.updated,
		Prompts: transcript.Prompts(c.first, c.last),
		Details: catalog.Details{StartedMS: cmp.Or(side.created, c.created)},
	}
	if side.subAgent {
		s.NonInteractive, s.Relation = true, catalog.SubAgent
	}
	if s.TimeMS == 0 {
		s.TimeMS, s.Ref = cmp.Or(fileTime(p, p.Unit.Path, p.Unit.Path+"-wal"), s.StartedMS), weakTime
	}
	p.Emit(s)
	return nil
}

// fileTime returns the newest time of files.
func fileTime(p *catalog.Parsing, paths ...string) int64 {
	var newest int64
	for _, path := range paths {
		f, err := p.Open(path)
		if err != nil {
			continue // The log need not be there.
		}
		newest = p.Newest(newest, f.ModTime.UnixMilli())
		_ = f.Close() // It was only asked for its time.
	}
	return newest
}

// header reads the one row that says what the chat is: JSON, as hexadecimal digits.
func (c *chat) header(ctx context.Context, db *database.DB) error {
	have, err := db.Columns(ctx, "meta")
	if err != nil || !have["key"] || !have["value"] {
		return err
	}
	var value database.Text
	return db.Each(ctx, "SELECT substr(value, 1, 262144) FROM meta WHERE key = '0'", nil, []any{&value}, func() error {
		data := []byte(value)
		if decoded, err := hex.DecodeString(strings.TrimSpace(string(value))); err == nil {
			data = decoded
		}
		for key, v := range bounded.Fields(data) {
			c.known = true
			switch string(key) {
			case "name":
				c.name = v.Text(catalog.MaxTextBytes)
			case "createdAt":
				c.created = bounded.Millis(v)
			case "latestRootBlobId":
				c.root = v.Text(128)
			}
		}
		return nil
	})
}

// conversation reads the directory and the prompts out of the messages.
func (c *chat) conversation(ctx context.Context, db *database.DB) error {
	have, err := db.Columns(ctx, "blobs")
	if err != nil || !have["id"] || !have["data"] {
		return err
	}
	root, err := blob(ctx, db, c.root, maxRootBytes)
	if err != nil {
		return err
	}
	t := decodeTree(root)
	c.cwd = bounded.FilePath(t.workspace)
	for _, backward := range []bool{false, true} {
		left := promptVisits
		w := walker{ctx: ctx, db: db, backward: backward, visit: func(_ string, data []byte) bool {
			left--
			return c.see(data, backward) && left > 0
		}}
		if _, err := w.walk(t, "", 0); err != nil {
			return err
		}
	}
	if c.talk {
		return nil
	}
	// The tree is one that this reader does not understand; the messages are there all the same.
	var data []byte
	query := "SELECT data FROM (SELECT CAST(substr(data, 1, 65536) AS BLOB) AS data FROM blobs LIMIT 2000) WHERE CAST(substr(data, 1, 14) AS TEXT) = '{\"role\":\"user\"' LIMIT 10"
	return db.Each(ctx, query, nil, []any{&data}, func() error {
		c.see(data, false)
		return nil
	})
}

// see takes a message and reports whether more are wanted.
func (c *chat) see(data []byte, backward bool) bool {
	m := decodeMessage(data)
	c.talk = c.talk || m.role.Equal("assistant")
	c.cwd = cmp.Or(c.cwd, m.workspace())
	prompt := m.prompt()
	if prompt == "" {
		return true
	}
	c.talk = true
	if backward {
		c.last = prompt
	} else {
		c.first = cmp.Or(c.first, prompt)
	}
	return false
}

// parseTranscript emits a fragment for a transcript.
func parseTranscript(p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var first, last string
	windows := transcript.Windows{Whole: 512 << 10, Head: 512 << 10, Tail: 64 << 10, TailMax: 64 << 10}
	_, err = transcript.Ends(f, windows, func(line bounded.Line) bool {
		m := decodeMessage(line.Data)
		prompt := m.prompt()
		first, last = cmp.Or(first, prompt), cmp.Or(prompt, last)
		return first != ""
	}, func(line bounded.Line) bool {
		m := decodeMessage(line.Data)
		last = m.prompt()
		return last != ""
	})
	if err != nil {
		return err
	}
	emitTranscript(p, f, first, last)
	return nil
}

// parseText emits a fragment for a transcript in plain text, in which a line tells who speaks next.
func parseText(p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, min(f.Size, 64<<10))
	n, err := f.ReadAt(head, 0)
	if n < len(head) {
		return fmt.Errorf("reading %q: %w", f.Path, err)
	}
	var first string
	for _, part := range sections(string(head)) {
		if part.user && first == "" {
			first = query(part.text)
		}
	}
	if first == "" {
		p.Skip("", catalog.NoConversation)
		return nil
	}
	emitTranscript(p, f, bounded.Clean([]byte(first)), "")
	return nil
}

// section is what one side says in a plain text.
type section struct {
	user bool
	text string
}

// sections cuts a plain text where a line names a speaker.
func sections(text string) (out []section) {
	for line := range strings.Lines(text) {
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "user:":
			out = append(out, section{user: true})
		case "assistant:":
			out = append(out, section{})
		default:
			if len(out) > 0 {
				out[len(out)-1].text += line
			}
		}
	}
	return out
}

func emitTranscript(p *catalog.Parsing, f *bounded.File, first, last string) {
	s := catalog.Session{
		ID: stem(f.Path), TimeMS: p.Believe(f.ModTime.UnixMilli()), Prompts: transcript.Prompts(first, last),
	}
	if isSubAgent(p.Unit) {
		s.NonInteractive, s.Relation, s.Parent = true, catalog.SubAgent, parentOf(f.Path)
	}
	p.Emit(s)
}
