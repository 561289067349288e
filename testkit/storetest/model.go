package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/testkit/storetest/simdisk"
)

const (
	modelSeeds = 8
	modelSteps = 400
)

// models runs random histories against the store and a model, from seeds that differ from run to run.
func models(t *testing.T, factory Factory) {
	t.Helper()
	base := rand.Uint64() >> 16
	for i := range modelSeeds {
		seed := base + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			Replay(t, factory, seed)
		})
	}
}

// Replay runs the random history of one seed. It is called to look into a seed that a run of the suite has printed.
func Replay(t *testing.T, factory Factory, seed uint64) {
	t.Helper()
	b := factory(t)
	m := &model{
		t: t, backend: b, store: b.open(t), random: rand.New(rand.NewPCG(seed, 0)),
		sessions: make(map[messages.SessionID]*modelSession),
	}
	for step := range modelSteps {
		m.step(step)
		if t.Failed() {
			t.Fatalf("seed %d failed at step %d", seed, step)
		}
	}
	m.settle()
	m.compare()
}

// model is the dumb store: a document for each session.
type model struct {
	t        *testing.T
	backend  *Backend
	store    persistence.Store
	random   *rand.Rand
	sessions map[messages.SessionID]*modelSession
	ids      []messages.SessionID
	faulty   bool
}

// modelSession is what the model knows of a session.
type modelSession struct {
	*writer
	// doubt is an append of which nobody knows whether it is stored.
	doubt *persistence.Append
	// claimed says that the handle has stored its claim.
	claimed bool
	deleted bool
	// stale are handles that were fenced.
	stale []persistence.Handle
}

func (m *model) step(step int) {
	switch roll := m.random.IntN(100); {
	case roll < 6 || len(m.ids) == 0:
		m.create(step)
	case roll < 60:
		m.commit()
	case roll < 70:
		m.fold()
	case roll < 76:
		m.open()
	case roll < 79:
		m.useStale()
	case roll < 81:
		m.delete()
	case roll < 88:
		m.readOne()
	case roll < 90:
		m.compare()
	case roll < 95:
		m.reopen(step)
	default:
		m.toggleFaults()
	}
}

func (m *model) pick() *modelSession { return m.sessions[m.ids[m.random.IntN(len(m.ids))]] }

func (m *model) create(step int) {
	id := messages.SessionID(fmt.Sprintf("m-%d", step))
	handle, err := m.store.Create(m.t.Context(), id)
	if err != nil {
		m.forgive("Create", err)
		return
	}
	s := &modelSession{writer: &writer{tb: m.t, store: m.store, handle: handle, want: messages.NewDocument(id)}}
	m.sessions[id] = s
	m.ids = append(m.ids, id)
}

// forgive accepts an error that a fault explains.
func (m *model) forgive(call string, err error) {
	m.t.Helper()
	if err != nil && (!m.faulty || persistence.IsPermanent(err)) {
		m.t.Errorf("%s = %v", call, err)
	}
}

// changes makes what a writer of the session may append next.
func (m *model) changes(s *modelSession) []messages.Change {
	var changes []messages.Change
	if !s.claimed {
		if s.want.Head.LastSeq == 0 {
			changes = append(changes, messages.Created{AgentID: "a", Epoch: s.handle.Epoch})
		} else {
			changes = append(changes, messages.Opened{Epoch: s.handle.Epoch})
		}
	}
	items := len(s.want.Items)
	for range 1 + m.random.IntN(4) {
		switch roll := m.random.IntN(10); {
		case roll < 5:
			changes = append(changes, messages.ItemAppended{Item: new(item(items))})
			items++
		case roll < 7 && items > 0:
			changed := item(m.random.IntN(items))
			changed.Content = fmt.Sprint("changed ", m.random.IntN(1000))
			changes = append(changes, messages.ItemUpdated{Item: &changed})
		case roll < 8:
			changes = append(changes, messages.DataSet{Key: fmt.Sprint("k", m.random.IntN(4)), Value: []byte(`{"a":[1,null]}`)})
		case roll < 9:
			changes = append(changes, messages.TurnStarted{Turn: &messages.Turn{ID: "t", Status: messages.TurnRunning}})
		default:
			changes = append(changes, messages.TurnEnded{Turn: &messages.Turn{ID: "t", Status: messages.TurnFailed, Error: "e"}})
		}
	}
	return changes
}

// commit commits to some sessions at once. What is in doubt is repeated first.
func (m *model) commit() {
	var batch []persistence.Append
	var owners []*modelSession
	for _, i := range m.random.Perm(len(m.ids))[:1+m.random.IntN(min(5, len(m.ids)))] {
		s := m.sessions[m.ids[i]]
		if s.deleted {
			continue
		}
		a := s.doubt
		if a == nil {
			a = new(s.next(m.changes(s)...))
		}
		batch, owners = append(batch, *a), append(owners, s)
	}
	for i, err := range m.store.Commit(m.t.Context(), batch) {
		m.answer(owners[i], batch[i], err)
	}
}

// answer notes what a commit said.
func (m *model) answer(s *modelSession, a persistence.Append, err error) {
	s.doubt = nil
	switch {
	case err == nil:
		s.stored(a)
		s.claimed = true
		if a.Records[len(a.Records)-1].Kind == messages.KindDeleted {
			s.deleted = true
		}
	case errors.Is(err, persistence.ErrUnknown):
		s.doubt = &a
		m.forgive("Commit", err)
	default:
		m.forgive("Commit", err)
	}
}

func (m *model) fold() {
	s := m.pick()
	err := m.store.Fold(m.t.Context(), s.handle.Session)
	if s.want.Head.LastSeq == 0 && errors.Is(err, persistence.ErrNotFound) {
		return
	}
	m.forgive("Fold", err)
}

func (m *model) open() {
	s := m.pick()
	if s.doubt != nil {
		return
	}
	handle, doc, err := m.store.Open(m.t.Context(), s.handle.Session)
	switch {
	case s.deleted:
		if !errors.Is(err, persistence.ErrDeleted) {
			m.forgive("Open(deleted)", err)
		}
	case s.want.Head.LastSeq == 0:
		if !errors.Is(err, persistence.ErrNotFound) {
			m.forgive("Open(nothing stored)", err)
		}
	case err != nil:
		m.forgive("Open", err)
		// It may have fenced the handle before it failed.
		s.stale = append(s.stale, s.handle)
		m.mustOpen(s)
	default:
		if diff := diff(s.want, doc); diff != "" {
			m.t.Errorf("Open differs (-want +got):\n%s", diff)
		}
		if handle.Epoch <= s.handle.Epoch {
			m.t.Errorf("epoch = %d after %d", handle.Epoch, s.handle.Epoch)
		}
		s.stale = append(s.stale, s.handle)
		s.handle, s.claimed = handle, false
	}
}

// mustOpen opens a session with the faults held back.
func (m *model) mustOpen(s *modelSession) {
	m.healed(func() {
		handle, doc, err := m.store.Open(m.t.Context(), s.handle.Session)
		if err != nil {
			m.t.Errorf("Open(%q) = %v", s.handle.Session, err)
			return
		}
		s.handle, s.claimed, s.want = handle, false, doc
	})
}

// healed runs f while the disk does not fail.
func (m *model) healed(f func()) {
	was := m.faulty
	m.setFaults(false)
	f()
	m.setFaults(was)
}

func (m *model) useStale() {
	s := m.pick()
	if len(s.stale) == 0 {
		return
	}
	stale := *s.writer
	stale.handle = s.stale[m.random.IntN(len(s.stale))]
	stale.lastID += 1 << 20
	err := commit(m.t, m.store, stale.next(messages.ItemAppended{Item: new(item(1 << 20))}))
	if !errors.Is(err, persistence.ErrFenced) && !errors.Is(err, persistence.ErrDeleted) {
		m.forgive("Commit(stale handle)", err)
		if err == nil {
			m.t.Errorf("Commit(stale handle) = nil")
		}
	}
}

func (m *model) delete() {
	s := m.pick()
	if s.deleted {
		m.forgive("Delete", m.store.Delete(m.t.Context(), s.handle.Session))
		return
	}
	if s.doubt != nil || s.want.Head.LastSeq == 0 {
		return
	}
	changes := []messages.Change{messages.Deleted{}}
	if !s.claimed {
		changes = append([]messages.Change{messages.Opened{Epoch: s.handle.Epoch}}, changes...)
	}
	a := s.next(changes...)
	m.answer(s, a, commit(m.t, m.store, a))
	if s.deleted {
		m.forgive("Delete", m.store.Delete(m.t.Context(), s.handle.Session))
	}
}

func (m *model) readOne() { m.read(m.pick()) }

// read compares one session, if nothing about it is in doubt.
func (m *model) read(s *modelSession) {
	if s.doubt != nil {
		return
	}
	m.healed(func() {
		id := s.handle.Session
		_, err := m.store.Read(m.t.Context(), id)
		switch {
		case s.deleted:
			wantError(m.t, "Read(deleted)", err, persistence.ErrDeleted)
		case s.want.Head.LastSeq == 0:
			wantError(m.t, "Read(nothing stored)", err, persistence.ErrNotFound)
		default:
			expect(m.t, m.store, s.want)
			m.readPage(s)
		}
	})
}

func (m *model) readPage(s *modelSession) {
	query := persistence.PageQuery{Before: m.random.IntN(len(s.want.Items) + 2), Limit: 1 + m.random.IntN(30)}
	page, err := m.store.Page(m.t.Context(), s.handle.Session, query)
	start, end := query.Bounds(len(s.want.Items))
	want := persistence.Page{Head: s.want.Head, Items: values(s.want.Items[start:end]), Start: start}
	if diff := diff(want, page); err != nil || diff != "" {
		m.t.Errorf("Page(%+v) = %v, differs (-want +got):\n%s", query, err, diff)
	}
}

// compare compares everything.
func (m *model) compare() {
	var want persistence.Listing
	for _, id := range m.ids {
		s := m.sessions[id]
		m.read(s)
		if s.doubt != nil {
			return
		}
		if !s.deleted && s.want.Head.LastSeq > 0 {
			want.Sessions = append(want.Sessions, s.want.Head)
		}
	}
	want.Sort()
	m.healed(func() {
		got, err := m.store.List(m.t.Context())
		if diff := diff(want, got); err != nil || diff != "" {
			m.t.Errorf("List = %v, differs (-want +got):\n%s", err, diff)
		}
	})
}

// settle repeats what is in doubt until it is not.
func (m *model) settle() {
	m.setFaults(false)
	for _, id := range m.ids {
		if s := m.sessions[id]; s.doubt != nil {
			m.answer(s, *s.doubt, commit(m.t, m.store, *s.doubt))
		}
	}
}

// reopen ends the store cleanly, by a kill or by a power cut, and opens every session again.
func (m *model) reopen(step int) {
	if m.backend.Disk == nil && !m.backend.Durable {
		return
	}
	how := m.random.IntN(3)
	switch {
	case m.backend.Disk == nil || how == 0:
		m.settle()
		if err := m.store.Close(m.t.Context()); err != nil {
			m.t.Errorf("Close = %v", err)
		}
	case how == 1:
		m.backend.Disk.Kill()
	default:
		m.backend.Disk.PowerCut(uint64(step % 3))
	}
	m.faulty = false
	m.store = m.backend.open(m.t)
	for _, id := range m.ids {
		m.resume(m.sessions[id])
	}
}

// resume opens a session after a reopening, and finds out what became of an append in doubt.
func (m *model) resume(s *modelSession) {
	s.store = m.store
	s.claimed = false
	s.stale = nil
	handle, doc, err := m.store.Open(m.t.Context(), s.handle.Session)
	switch {
	case s.want.Head.LastSeq == 0 && errors.Is(err, persistence.ErrNotFound):
		s.doubt = nil
		s.handle, err = m.store.Create(m.t.Context(), s.handle.Session)
	case errors.Is(err, persistence.ErrDeleted) && (s.deleted || s.doubt != nil):
		s.deleted, s.doubt, err = true, nil, nil
	case err == nil && s.deleted:
		m.t.Errorf("Open(%q) = nil, it was deleted", s.handle.Session)
	case err == nil:
		if s.doubt != nil && doc.Head.LastSeq > s.want.Head.LastSeq {
			s.stored(*s.doubt)
		}
		s.doubt = nil
		if diff := diff(s.want, doc); diff != "" {
			m.t.Errorf("Open(%q) after a reopening differs (-want +got):\n%s", s.handle.Session, diff)
		}
		s.handle = handle
	}
	if err != nil {
		m.t.Errorf("resuming %q: %v", s.handle.Session, err)
	}
}

func (m *model) toggleFaults() { m.setFaults(!m.faulty) }

// setFaults lets the disk fail now and then, or not at all.
func (m *model) setFaults(on bool) {
	if m.backend.Disk == nil {
		return
	}
	m.faulty = on
	if !on {
		m.backend.Disk.Inject(nil)
		return
	}
	m.backend.Disk.Inject(func(op simdisk.Op) *simdisk.Fault {
		if m.random.IntN(8) > 0 {
			return nil
		}
		return &simdisk.Fault{Err: syscall.EIO, Written: m.random.IntN(op.Bytes + 1)}
	})
}
