package claude

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/transcript"
)

// The windows of a transcript, in bytes. The first ones are always read, the second ones when something is missing.
const (
	headWindow, headMax = 16 << 10, 512 << 10
	tailWindow, tailMax = 32 << 10, 1 << 20
	historyMax          = 256 << 20
)

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	f, err := p.Open(p.Unit.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	switch p.Unit.Kind {
	case kindHistory:
		return parseHistory(p, f)
	case kindSummaries:
		return parseSummaries(p, f)
	}
	s := &sight{p: p}
	if f.Size <= headWindow+tailWindow {
		err = s.forward(f, headWindow+tailWindow)
	} else {
		err = s.windows(f)
	}
	if err != nil {
		return err
	}
	s.whole = f.Size <= headMax
	s.tell(f)
	return nil
}

// sight is what was seen of a transcript.
type sight struct {
	p *catalog.Parsing
	// backward is true while lines come newest first: then "last wins" means that the first one seen stays.
	backward bool
	whole    bool

	cwd, session, firstPrompt, lastPrompt string
	customTitle, aiTitle, recap           string
	branch, worktree, forkedFrom          string
	branchSeen                            bool
	newest, oldest                        int64
	terminal, headless                    bool
	main, side, talk                      bool
	leaves                                []string
}

// windows reads the head and the tail of a large transcript.
func (s *sight) windows(f *bounded.File) error {
	if err := s.forward(f, headWindow); err != nil {
		return err
	}
	if s.cwd == "" || s.firstPrompt == "" {
		*s = sight{p: s.p}
		if err := s.forward(f, headMax); err != nil {
			return err
		}
	}
	head := *s
	*s = sight{p: s.p, backward: true}
	if err := s.tail(f, tailWindow); err != nil {
		return err
	}
	if s.newest == 0 {
		*s = sight{p: s.p, backward: true}
		if err := s.tail(f, tailMax); err != nil {
			return err
		}
	}
	s.join(&head)
	return nil
}

func (s *sight) forward(f *bounded.File, limit int64) error {
	for line, err := range f.Head(limit) {
		if err != nil {
			return err
		}
		s.see(line)
		if limit > headWindow+tailWindow && s.cwd != "" && s.firstPrompt != "" {
			return nil
		}
	}
	return nil
}

func (s *sight) tail(f *bounded.File, limit int64) error {
	for line, err := range f.Tail(limit) {
		if err != nil {
			return err
		}
		s.see(line)
		if limit > tailWindow && s.newest > 0 {
			return nil
		}
	}
	return nil
}

// join completes what the tail says with what the head says.
func (s *sight) join(head *sight) {
	s.cwd = cmp.Or(head.cwd, s.cwd)
	s.session = cmp.Or(head.session, s.session)
	s.lastPrompt = cmp.Or(s.lastPrompt, head.lastPrompt)
	s.firstPrompt = head.firstPrompt // The first one in the tail is not the first one of the session.
	s.customTitle = cmp.Or(s.customTitle, head.customTitle)
	s.aiTitle = cmp.Or(s.aiTitle, head.aiTitle)
	s.recap = cmp.Or(s.recap, head.recap)
	s.worktree = cmp.Or(s.worktree, head.worktree)
	s.forkedFrom = cmp.Or(s.forkedFrom, head.forkedFrom)
	if !s.branchSeen {
		s.branch = head.branch
	}
	s.newest = max(s.newest, head.newest)
	s.oldest = cmp.Or(head.oldest, s.oldest)
	s.terminal = s.terminal || head.terminal
	s.headless = s.headless || head.headless
	s.main, s.side, s.talk = s.main || head.main, s.side || head.side, s.talk || head.talk
}

// last sets a field of which the last value counts, when there is a value.
func (s *sight) last(field *string, value string) {
	if value != "" && (!s.backward || *field == "") {
		*field = value
	}
}

// see takes one line.
func (s *sight) see(line bounded.Line) {
	r := decode(line.Data)
	if r.kind.Cut || !r.kind.Exists() && line.Torn {
		// The type can stand behind a very long message. What comes before it is still good.
		r.kind = bounded.Value{}
	}
	at := s.p.Believe(bounded.Millis(r.timestamp))
	s.newest = max(s.newest, at)
	if at > 0 && (s.oldest == 0 || at < s.oldest) {
		s.oldest = at
	}
	s.metadata(&r)
	if (s.backward || s.cwd == "") && len(r.cwd.Bytes()) > 0 && !r.cwd.Equal(s.cwd) {
		s.cwd = r.cwd.Text(catalog.MaxPathBytes + 1)
	}
	if r.branch.IsString() && (!s.backward || !s.branchSeen) {
		if s.branchSeen = true; !r.branch.Equal(s.branch) {
			s.branch = r.branch.Text(4 * catalog.MaxLabelBytes)
		}
	}
	switch entry := r.entrypoint.Bytes(); {
	case len(entry) == 0:
	case bytes.HasPrefix(entry, []byte("sdk")):
		s.headless = true
	default:
		s.terminal = true
	}
	s.conversation(&r, line.Torn)
}

// metadata takes the lines that say something about the session.
func (s *sight) metadata(r *record) {
	switch string(r.kind.Bytes()) {
	case "custom-title":
		s.last(&s.customTitle, r.title.Text(catalog.MaxTextBytes))
	case "ai-title":
		s.last(&s.aiTitle, r.title.Text(catalog.MaxTextBytes))
	case "last-prompt":
		s.last(&s.lastPrompt, typed(r.text.Text(catalog.MaxTextBytes)))
	case "worktree-state":
		s.last(&s.worktree, bounded.Pick(r.worktree.Raw, "worktreeName").Text(catalog.MaxPathBytes))
	case "summary":
		emitSummary(s.p, r)
	case "system":
		if r.subtype.Equal("away_summary") {
			text, _ := strings.CutSuffix(strings.TrimSpace(r.content.Text(catalog.MaxTextBytes)), "(disable recaps in /config)")
			s.last(&s.recap, strings.TrimSpace(text))
		}
	}
}

// emitSummary tells a title of version 1, which names another session, or this one, by its last message.
func emitSummary(p *catalog.Parsing, r *record) {
	if leaf := r.leaf.Text(64); leaf != "" {
		p.Emit(catalog.Session{Title: r.text.Text(catalog.MaxTextBytes), Details: catalog.Details{Ref: leaf}})
	}
}

// parseSummaries reads the summaries at the start of a transcript and stops behind them.
func parseSummaries(p *catalog.Parsing, f *bounded.File) error {
	for line, err := range f.Head(headWindow) {
		if err != nil {
			return err
		}
		r := decode(line.Data)
		if !r.kind.Equal("summary") {
			return nil
		}
		emitSummary(p, &r)
	}
	return nil
}

// conversation takes the lines that were said.
func (s *sight) conversation(r *record, torn bool) {
	isUser, isReply := r.kind.Equal("user"), r.kind.Equal("assistant")
	if !isUser && !isReply && (!torn || !r.message.Exists()) {
		return
	}
	if !r.kind.Exists() {
		r.kind = bounded.Value{Raw: []byte(`"user"`)} // A line cut within its message: its role says more.
		if bounded.Pick(r.message.Raw, "role").Equal("assistant") {
			return
		}
	}
	s.side, s.main = s.side || r.side, s.main || !r.side
	if s.session == "" {
		s.session = r.session.Text(catalog.MaxIDBytes)
	}
	if r.forkedFrom.Exists() {
		s.forkedFrom = cmp.Or(bounded.Pick(r.forkedFrom.Raw, "sessionId").Text(catalog.MaxIDBytes), s.forkedFrom)
	}
	s.addLeaf(r.uuid)
	if r.reply() {
		s.talk = true
	}
	if s.backward && s.lastPrompt != "" && s.talk && r.entrypoint.Exists() {
		return // Nothing before the last prompt is wanted, and finding it costs more than the rest of a line.
	}
	text := r.prompt()
	if text == "" {
		return
	}
	s.talk = true
	if r.promptSource.Equal("typed") {
		s.terminal = s.terminal || !r.entrypoint.Exists()
	}
	if s.firstPrompt == "" {
		s.firstPrompt = text
	}
	s.last(&s.lastPrompt, text)
}

// maxLeaves is how many of the last messages are kept to find an old version's summary by.
const maxLeaves = 8

func (s *sight) addLeaf(uuid bounded.Value) {
	switch {
	case s.customTitle != "" || s.aiTitle != "":
		// This version has titles of its own.
	case len(s.leaves) < maxLeaves:
		s.leaves = append(s.leaves, uuid.Text(64))
	case !s.backward:
		copy(s.leaves, s.leaves[1:])
		s.leaves[maxLeaves-1] = uuid.Text(64)
	}
}

// tell emits the session, or says why there is none.
func (s *sight) tell(f *bounded.File) {
	id := strings.TrimSuffix(filepath.Base(s.p.Unit.Path), ".jsonl")
	if !s.talk {
		reason := catalog.NoConversation
		if !s.whole && s.cwd == "" {
			reason = catalog.TooLarge
		}
		s.p.Skip("", reason)
		return
	}
	branch := s.branch
	if branch == "HEAD" {
		branch = "" // Outside a repository, or no branch is checked out.
	}
	out := catalog.Session{
		ID: id, ProjectPath: s.cwd, TimeMS: cmp.Or(s.newest, s.p.Believe(f.ModTime.UnixMilli())),
		Title: cmp.Or(s.customTitle, s.aiTitle), Prompts: transcript.Prompts(s.firstPrompt, s.lastPrompt),
		Recap: s.recap, Branch: branch, Worktree: s.worktree, NonInteractive: s.headless && !s.terminal,
		Details: catalog.Details{StartedMS: s.oldest},
	}
	if s.forkedFrom != "" && s.forkedFrom != id {
		out.Parent, out.Relation = s.forkedFrom, catalog.Fork
	}
	if s.side && !s.main {
		out.NonInteractive, out.Parent, out.Relation = true, s.session, catalog.SubAgent
	}
	inWorktree(&out)
	out.Ref = s.ref(out.Title)
	s.p.Emit(out)
}

// inWorktree names the worktree and the project that it belongs to, when the session was started in one.
func inWorktree(s *catalog.Session) {
	root, rest, ok := strings.Cut(filepath.ToSlash(s.ProjectPath), "/.claude/worktrees/")
	if !ok {
		return
	}
	name, _, _ := strings.Cut(rest, "/")
	s.Worktree = cmp.Or(s.Worktree, name)
	s.ProjectName = root[strings.LastIndexByte(root, '/')+1:]
}
