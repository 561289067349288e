package codex

import (
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// Bounds of a rollout, in bytes.
const (
	// packedMax bounds what is unpacked of a compressed rollout.
	packedMax = 16 << 20
	// promptPatience is how far behind a prompt that the model got the event that proves it typed may stand.
	promptPatience = 32 << 10
)

// windows returns how much of a rollout is read. The head is left as soon as the first prompt is sure; the tail is read as a
// whole, and grows only when it holds no time.
func windows() transcript.Windows {
	return transcript.Windows{Whole: 64 << 10, Head: 2 << 20, Tail: 32 << 10, TailMax: 1 << 20}
}

// Marks in Details.Ref of a rollout's fragment.
const (
	weakTime = "~" // the time is only the file's
	noFirst  = "p" // the first prompt was not seen
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
	switch p.Unit.Kind {
	case kindNames:
		return parseNames(p, f)
	case kindHistory:
		return parseHistory(p, f)
	case kindPacked:
		return parsePacked(p, f)
	}
	s := &sight{p: p}
	if err := s.plain(f); err != nil {
		return err
	}
	s.tell(f)
	return nil
}

// parsePacked reads a compressed rollout from its start.
func parsePacked(p *catalog.Parsing, f *bounded.File) error {
	r, err := f.Zstd()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	s := &sight{p: p, whole: true}
	var read int64
	err = s.forward(func(yield func(bounded.Line, error) bool) {
		for line, err := range bounded.Lines(r, packedMax) {
			read = line.Offset + int64(len(line.Data))
			if !yield(line, err) {
				return
			}
		}
	})
	if err != nil && s.id == "" && !s.talk {
		return errDamaged(p.Unit.Path, err)
	}
	// A rollout that goes on behind the bound has its last times there.
	if err != nil || read >= packedMax-bounded.MaxLineBytes {
		s.whole, s.newest = false, 0
	}
	s.tell(f)
	return nil
}

// sight is what was seen of a rollout.
type sight struct {
	p *catalog.Parsing
	identity
	known bool // the first line was understood
	whole bool

	context                 string // a directory from a later line
	event, first, last      string // prompts
	firstAt                 int64
	eventSeen, talk, tailed bool
	newest, headNewest      int64
}

// plain reads a rollout that is not compressed: its head up to the first prompt that is sure, and its tail.
func (s *sight) plain(f *bounded.File) error {
	var head string
	var headNewest int64
	turn := func() {
		s.tailed, head, headNewest = true, s.last, s.newest
		s.last, s.newest = "", 0
	}
	whole, err := transcript.Ends(f, windows(), func(line bounded.Line) bool {
		s.see(line)
		return s.known && s.eventSeen || s.first != "" && line.Offset > s.firstAt+promptPatience
	}, func(line bounded.Line) bool {
		if !s.tailed {
			turn()
		}
		s.see(line)
		return s.newest > 0
	})
	if s.whole = whole; whole || err != nil {
		return err
	}
	if !s.tailed { // Something very long stands at the end.
		turn()
	}
	s.last, s.headNewest = cmp.Or(s.last, head), headNewest
	return nil
}

// forward takes lines in order.
func (s *sight) forward(lines iter.Seq2[bounded.Line, error]) error {
	for line, err := range lines {
		if err != nil {
			return err
		}
		s.see(line)
	}
	return nil
}

// see takes one line.
func (s *sight) see(line bounded.Line) {
	r := decode(line.Data)
	s.newest = max(s.newest, s.p.Believe(bounded.Millis(r.timestamp)))
	switch {
	case r.kind.Equal("session_meta"):
		if !s.known && !s.tailed {
			s.identity, s.known = identify(r.payload), true
			s.started = s.p.Believe(s.started)
			s.newest = max(s.newest, s.started)
		}
		return
	case r.kind.Equal("turn_context"):
		if s.context == "" && !s.tailed {
			s.context = bounded.Pick(r.payload.Raw, "cwd").Text(catalog.MaxPathBytes + 1)
		}
		return
	}
	said := r.conversation()
	s.talk = s.talk || said.talk
	if said.prompt == "" {
		if !s.known || s.cwd == "" {
			s.surroundings(&r)
		}
		return
	}
	if s.tailed { // Newest first.
		s.last = cmp.Or(s.last, said.prompt)
		return
	}
	if s.first == "" {
		s.first, s.firstAt = said.prompt, line.Offset
	}
	if said.event && !s.eventSeen {
		s.event, s.eventSeen = said.prompt, true
	}
	s.last = said.prompt
}

// surroundings looks for the directory in the message that tells the model of it, for rollouts that say it nowhere
// else.
func (s *sight) surroundings(r *record) {
	if s.context != "" || s.tailed || !r.kind.Equal("response_item") {
		return
	}
	text := blocks(message(r.payload).content, 8<<10, func(string) bool { return true })
	if !strings.HasPrefix(text, "<environment_context>") {
		return
	}
	if _, rest, ok := strings.Cut(text, "<cwd>"); ok {
		dir, _, _ := strings.Cut(rest, "</cwd>")
		s.context = strings.TrimSpace(dir)
	} else if _, rest, ok := strings.Cut(text, "Current working directory: "); ok {
		dir, _, _ := strings.Cut(rest, "\n")
		s.context = strings.TrimSpace(dir)
	}
}

// tell emits the session, or says why there is none.
func (s *sight) tell(f *bounded.File) {
	if !s.talk && s.whole {
		reason := catalog.NoConversation
		if !s.known {
			reason = catalog.NotASession
		}
		s.p.Skip("", reason)
		return
	}
	if !s.known && !s.talk {
		s.p.Skip("", catalog.TooLarge)
		return
	}
	id := s.id
	if !s.known {
		id = idOfName(f.Path)
	}
	first := s.first
	if s.eventSeen {
		first = s.event
	}
	out := catalog.Session{
		ID: id, ProjectPath: cmp.Or(s.cwd, s.context), TimeMS: s.newest, Branch: s.branch,
		Prompts:        transcript.Prompts(first, s.last),
		NonInteractive: s.headless || s.subAgent,
		Details: catalog.Details{
			Archived: strings.Contains(filepath.ToSlash(f.Path), "/"+archiveDir+"/"), Repository: s.repository, StartedMS: s.started,
		},
	}
	switch {
	case s.subAgent:
		out.Parent, out.Relation = cmp.Or(s.parent, s.forkedFrom), catalog.SubAgent
	case s.forkedFrom != "" && s.forkedFrom != id:
		out.Parent, out.Relation = s.forkedFrom, catalog.Fork
	}
	if out.TimeMS == 0 {
		out.TimeMS, out.Ref = max(s.headNewest, s.p.Believe(f.ModTime.UnixMilli())), weakTime
	}
	if first == "" {
		out.Ref += noFirst
	}
	inWorktree(&out)
	s.p.Emit(out)
}

// idOfName returns the id at the end of a rollout's name, rollout-2026-01-02T15-04-05-<uuid>.jsonl.
func idOfName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".jsonl")
	const uuidLen = 36
	if len(name) > uuidLen && name[len(name)-uuidLen-1] == '-' && strings.HasPrefix(name, "rollout-") {
		return name[len(name)-uuidLen:]
	}
	return ""
}

// inWorktree names the worktree of a session that Codex started in one of its own, <codex home>/worktrees/<name>/<repository>.
func inWorktree(s *catalog.Session) {
	_, rest, ok := strings.Cut(filepath.ToSlash(s.ProjectPath), "/.codex/worktrees/")
	if ok {
		s.Worktree, _, _ = strings.Cut(rest, "/")
	}
}
