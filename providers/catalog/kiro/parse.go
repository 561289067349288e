package kiro

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// The windows of files, in bytes.
const (
	infoWindow  = 512 << 10
	wholeWindow = 128 << 10
	headMax     = 2 << 20
	tailWindow  = 64 << 10
)

// Parse implements [catalog.Reader].
func (Reader) Parse(ctx context.Context, p *catalog.Parsing) error {
	if p.Unit.Kind == kindDatabase {
		return parseDatabase(ctx, p)
	}
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	data := make([]byte, min(f.Size, infoWindow))
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	i := decodeInfo(p, data[:n])
	log, err := readLog(p, p.Unit.With[0])
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.Skip(p.Unit.With[0], catalog.ReasonOf(err))
	}
	switch {
	case !i.object:
		p.Skip("", foreign(data[:n]))
		return nil
	case i.id == "" && i.project == "" && i.title == "" && !log.talk:
		p.Skip("", foreign(data[:n]))
		return nil
	case i.title == "" && !log.talk && !log.long:
		p.Skip("", catalog.NoConversation)
		return nil
	}
	s := catalog.Session{
		ID: cmp.Or(i.id, idOf(p.Unit)), ProjectPath: i.project, Title: i.title, Branch: i.branch,
		TimeMS:  cmp.Or(max(i.updated, log.newest), i.created, p.Believe(f.ModTime.UnixMilli())),
		Prompts: transcript.Prompts(log.first, log.last),
		Details: catalog.Details{StartedMS: i.created},
	}
	if i.parent != "" || log.subAgent {
		s.NonInteractive, s.Parent, s.Relation = true, i.parent, catalog.SubAgent
	}
	p.Emit(s)
	return nil
}

// idOf returns the id that a file's place tells.
func idOf(u catalog.Unit) string {
	if u.Kind == kindWorkspace {
		return filepath.Base(filepath.Dir(u.Path))
	}
	return strings.TrimSuffix(filepath.Base(u.Path), ".json")
}

// foreign says why a file is none of Kiro's: it is cut off, or something else.
func foreign(data []byte) catalog.Reason {
	text := strings.TrimSpace(string(data))
	if strings.HasPrefix(text, "{") && !strings.HasSuffix(text, "}") || len(text) > 0 && !strings.ContainsAny(text[:1], `{["0123456789tfn`) {
		return catalog.Corrupt
	}
	return catalog.NotASession
}

// info is what a session's file tells.
type info struct {
	object                             bool
	id, project, title, branch, parent string
	created, updated                   int64
}

// decodeInfo reads the file of a session of either engine, under all names that versions used.
func decodeInfo(p *catalog.Parsing, data []byte) info {
	var i info
	for key, v := range bounded.Fields(data) {
		i.object = true
		switch string(key) {
		case "session", "metadata":
			inner := decodeInfo(p, v.Raw)
			i.id, i.project = cmp.Or(i.id, inner.id), cmp.Or(i.project, inner.project)
			i.title, i.branch = cmp.Or(i.title, inner.title), cmp.Or(i.branch, inner.branch)
			i.created, i.updated = cmp.Or(i.created, inner.created), max(i.updated, inner.updated)
		case "session_id", "sessionId", "id":
			i.id = cmp.Or(v.Text(catalog.MaxIDBytes+1), i.id)
		case "cwd", "workingDirectory":
			i.project = cmp.Or(v.Text(catalog.MaxPathBytes+1), i.project)
		case "workspacePaths":
			for path := range bounded.Elements(v.Raw) {
				i.project = cmp.Or(i.project, path.Text(catalog.MaxPathBytes+1))
			}
		case "title":
			i.title = v.Text(catalog.MaxTextBytes)
		case "gitBranch":
			i.branch = v.Text(4 * catalog.MaxLabelBytes)
		case "git":
			i.branch = cmp.Or(i.branch, bounded.Pick(v.Raw, "branch").Text(4*catalog.MaxLabelBytes))
		case "parent_session_id", "parentSessionId":
			i.parent = v.Text(catalog.MaxIDBytes)
		case "created_at", "createdAt":
			i.created = p.Believe(bounded.Millis(v))
		case "updated_at", "updatedAt", "lastModifiedAt":
			i.updated = p.Believe(bounded.Millis(v))
		}
	}
	return i
}

// log is what the log of a session tells.
type log struct {
	first, last    string
	newest         int64
	talk, subAgent bool
	long           bool // it goes on where nothing was looked at
}

// readLog reads the head and the tail of a log.
func readLog(p *catalog.Parsing, path string) (log, error) {
	var l log
	f, err := p.Open(path)
	if err != nil {
		return l, err
	}
	defer func() { _ = f.Close() }()
	l.long = f.Size > headMax
	tailed := ""
	see := func(line bounded.Line) string {
		e := decodeEvent(line.Data)
		l.see(p, &e)
		return e.prompt()
	}
	_, err = transcript.Ends(f, transcript.Windows{Whole: wholeWindow, Head: headMax, Tail: tailWindow, TailMax: tailWindow}, func(line bounded.Line) bool {
		prompt := see(line)
		l.first, l.last = cmp.Or(l.first, prompt), cmp.Or(prompt, l.last)
		return l.first != ""
	}, func(line bounded.Line) bool {
		tailed = see(line)
		return tailed != ""
	})
	l.last = cmp.Or(tailed, l.last)
	return l, err
}

func (l *log) see(p *catalog.Parsing, e *event) {
	l.newest = p.Newest(l.newest, e.at)
	l.talk = l.talk || e.prompt() != "" || e.reply
	l.subAgent = l.subAgent || e.subAgent
}

// event is a line of a log, of either engine.
type event struct {
	id              string
	kind            bounded.Value // of the second engine, or the payload's type of the third
	content, said   bounded.Value // a list of blocks, or a text
	at              int64
	reply, subAgent bool
	start           bool
}

func decodeEvent(data []byte) event {
	var e event
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "id":
			e.id = v.Text(128)
		case "timestamp":
			e.at = bounded.Millis(v)
		case "kind":
			e.kind = v
		case "data":
			e.data(v)
		case "payload":
			e.payload(v)
		}
	}
	return e
}

// data reads what the second engine writes.
func (e *event) data(v bounded.Value) {
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "message_id":
			e.id = v.Text(128)
		case "content":
			e.content = v
		case "meta":
			if n, ok := bounded.Pick(v.Raw, "timestamp").Number(); ok && n > 0 && n < 1e12 {
				e.at = bounded.UnixMillis(int64(n), time.Second)
			} else {
				e.at = bounded.Millis(bounded.Pick(v.Raw, "timestamp"))
			}
		}
	}
	e.reply = e.kind.Equal("AssistantMessage")
}

// payload reads what the third engine writes.
func (e *event) payload(v bounded.Value) {
	var agent, operation bounded.Value
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "type":
			e.kind = v
		case "content", "output", "result", "input", "args":
			if !e.said.Exists() || string(key) == "content" {
				e.said = v
			}
		case "agentType":
			agent = v
		case "operationType":
			operation = v
		}
	}
	e.start = e.kind.Equal("session_start")
	e.subAgent = e.start && agent.IsString() && !agent.Equal("main") && !agent.Equal("")
	e.reply = e.kind.Equal("assistant") && !operation.Equal("Reasoning")
}

// prompt returns what a person typed.
func (e *event) prompt() string {
	switch {
	case e.kind.Equal("Prompt"):
		return typed(blocks(e.content, "text", catalog.MaxTextBytes))
	case e.start, e.kind.Equal("user"):
		if e.said.IsString() {
			return typed(e.said.Text(catalog.MaxTextBytes))
		}
		return typed(catalog.Said(e.said))
	default:
		return ""
	}
}

// blocks returns the text of the blocks of a kind, or of all kinds when it is empty.
func blocks(list bounded.Value, kind string, limit int) string {
	var out strings.Builder
	for block := range bounded.Elements(list.Raw) {
		var k, data bounded.Value
		for key, v := range bounded.Fields(block.Raw) {
			switch string(key) {
			case "kind":
				k = v
			case "data":
				data = v
			}
		}
		if out.Len() >= limit || kind != "" && !k.Equal(kind) {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		if data.IsString() {
			out.WriteString(data.Text(limit))
			continue
		}
		out.WriteString(nested(data, limit))
	}
	return bounded.Clip(out.String(), limit)
}

// nested returns what a tool was asked or answered: its name, its input, or the blocks of its result.
func nested(data bounded.Value, limit int) string {
	var name, input string
	for key, v := range bounded.Fields(data.Raw) {
		switch string(key) {
		case "content":
			return blocks(v, "", limit)
		case "name":
			name = v.Text(256)
		case "input":
			input = bounded.Clean(v.Raw[:min(len(v.Raw), limit)])
		}
	}
	return strings.TrimSpace(name + " " + input)
}
