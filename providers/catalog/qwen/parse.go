package qwen

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/outline"
)

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	s := &sight{Outline: outline.New(p), p: p}
	if err := s.Read(f, s.see, func() bool { return s.cwd != "" }); err != nil {
		return err
	}
	s.tell()
	return nil
}

// sight is what was seen of a transcript.
type sight struct {
	*outline.Outline
	p *catalog.Parsing

	cwd, session, parent, source, forkedFrom string
	title, branch                            outline.Last
	main, side                               bool
}

// see takes one line.
func (s *sight) see(line bounded.Line) {
	r := decode(line.Data)
	s.Time(bounded.Millis(r.timestamp))
	s.First(&s.session, r.session.Text(catalog.MaxIDBytes))
	if s.cwd == "" || !r.cwd.Equal(s.cwd) {
		s.First(&s.cwd, r.cwd.Text(catalog.MaxPathBytes+1))
	}
	if r.branch.IsString() {
		s.Last(&s.branch, r.branch.Text(4*catalog.MaxLabelBytes))
	}
	if r.forked.Exists() {
		s.First(&s.forkedFrom, bounded.Pick(r.forked.Raw, "sessionId").Text(catalog.MaxIDBytes))
	}
	switch string(r.kind.Bytes()) {
	case "user":
		s.Prompt(r.prompt(catalog.MaxTextBytes))
	case "assistant", "tool_result":
		s.Reply()
	case "system":
		s.note(&r)
		return
	default:
		return
	}
	if r.message.Exists() && !line.Torn { // The mark stands behind the message.
		s.main, s.side = s.main || !r.side, s.side || r.side
	}
}

// note takes a line that says something about the session.
func (s *sight) note(r *record) {
	pick := func(name string, limit int) string {
		return strings.TrimSpace(bounded.Pick(r.payload.Raw, name).Text(limit))
	}
	switch string(r.subtype.Bytes()) {
	case "custom_title":
		if title := pick("customTitle", catalog.MaxTextBytes); title != "" {
			s.Last(&s.title, title)
		}
	case "parent_session":
		s.First(&s.parent, pick("parentSessionId", catalog.MaxIDBytes))
	case "session_source":
		s.First(&s.source, pick("sourceType", 64))
	}
}

// tell emits the session, or says why there is none.
func (s *sight) tell() {
	id := strings.TrimSuffix(filepath.Base(s.p.Unit.Path), ".jsonl")
	switch {
	case !s.Talked() && !s.Whole():
		s.p.Skip("", catalog.TooLarge)
		return
	case !s.Talked():
		s.p.Skip("", catalog.NoConversation)
		return
	case s.session != "" && !strings.EqualFold(s.session, id):
		s.p.Skip("", catalog.Unresumable)
		return
	}
	out := s.Session()
	out.ID, out.ProjectPath, out.Title, out.Branch = id, s.cwd, s.title.Text, s.branch.Text
	out.Archived = filepath.Base(filepath.Dir(s.p.Unit.Path)) == archiveDir
	s.relate(&out)
	s.worktree(&out)
	s.p.Emit(out)
}

// relate tells where the session came from.
func (s *sight) relate(out *catalog.Session) {
	switch s.source {
	case "agent", "subagent", "background_agent":
		out.NonInteractive = true
	}
	switch {
	case s.side && !s.main:
		out.NonInteractive, out.Relation, out.Parent = true, catalog.SubAgent, s.parent
	case s.parent != "" && s.parent != out.ID:
		out.Relation, out.Parent = catalog.SubAgent, s.parent
	case out.NonInteractive:
		out.Relation = catalog.SubAgent
	case s.forkedFrom != "" && s.forkedFrom != out.ID:
		out.Relation, out.Parent = catalog.Fork, s.forkedFrom
	}
}

// worktreeSuffix is the end of the name of the file that tells a session's worktree.
const worktreeSuffix = ".worktree.json"

// worktree names the worktree, from the file beside the transcript or from the directory.
func (s *sight) worktree(out *catalog.Session) {
	root, rest, ok := strings.Cut(filepath.ToSlash(s.cwd), "/.qwen/worktrees/")
	if ok {
		out.Worktree, _, _ = strings.Cut(rest, "/")
		out.ProjectName = root[strings.LastIndexByte(root, '/')+1:]
	}
	if len(s.p.Unit.With) == 0 {
		return
	}
	data, err := bounded.ReadAll(s.p.Unit.With[0], outline.MaxState)
	if err != nil {
		s.p.Skip(s.p.Unit.With[0], catalog.ReasonOf(err))
		return
	}
	out.Worktree = cmp.Or(out.Worktree, bounded.Pick(data, "slug").Text(catalog.MaxPathBytes), bounded.Pick(data, "worktreePath").Text(catalog.MaxPathBytes))
}
