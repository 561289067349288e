package session

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"reflect"
	"strings"

	"agentd/messages"
)

// world is a session together with a stand-in for everything around it: a shell that performs the effects, a store that
// acknowledges, fails or delays, and callers who wait. It holds each effect to the promises.
type world struct {
	state *State
	epoch uint64
	now   int64
	// log tells how the world came to be as it is.
	log []string

	// journal is what the store has; acked is the document of what the state was told that it has.
	journal []stored
	acked   *messages.Document
	// under is the commit without an answer, records its changes as they would be stored, stored whether they are.
	under   *Commit
	records []stored
	stored  bool
	doubt   bool
	lastID  uint64

	tickets []*ticket
	runs    map[messages.TurnID]*run
	order   []messages.TurnID
	woken   bool
	left    bool
	// published is the number of the last durable event, watching since when they are counted.
	published uint64
	watching  bool

	// turns and items number the ids that the world makes.
	turns, items int
	// view is a slice of items that somebody reads, and what was in it.
	view, viewCopy []*messages.Item
	// shown is the text that a subscriber has last seen of an item, before what it was one step ago.
	shown, before map[messages.ItemID]string
	known         *known
}

// stored is a change as it was encoded, and as it was decoded again.
type stored struct {
	messages.Record
	change messages.Change
}

// ticket is somebody who waits.
type ticket struct {
	what     string
	answers  int
	err      error
	durable  messages.ItemID // The item that a good answer promises to be stored.
	optional bool            // A crash took the one who would have answered.
}

// run is what the shell knows of a turn.
type run struct {
	started, ran, asked, told bool
	settled                   int
}

func newWorld(known *known) (*world, error) {
	w := &world{known: known, shown: map[messages.ItemID]string{}, epoch: 1, now: 1000, acked: messages.NewDocument("s1"), runs: map[messages.TurnID]*run{}}
	ticket := w.ticket("create")
	state, effects := Create("s1", messages.Created{AgentID: "a1", Epoch: 1}, ticket, w.now, Limits{Queue: 3})
	w.state = state
	state.Watch(true)
	w.watching = true
	return w, w.perform(effects)
}

func (w *world) ticket(what string) *ticket {
	t := &ticket{what: what}
	w.tickets = append(w.tickets, t)
	return t
}

func (w *world) run(id messages.TurnID) *run {
	r := w.runs[id]
	if r == nil {
		r = &run{}
		w.runs[id] = r
	}
	return r
}

// send gives the state a message, performs what it answers, and checks everything.
func (w *world) send(msg Message) error {
	w.now++
	w.before = maps.Clone(w.shown)
	if err := w.perform(w.state.Step(w.now, msg)); err != nil {
		return err
	}
	if err := w.state.Check(); err != nil {
		return fmt.Errorf("after %T: %w", msg, err)
	}
	if !reflect.DeepEqual(w.view, w.viewCopy) {
		return errors.New("items that somebody reads were changed")
	}
	if got, want := w.state.doc.Head.LastSeq, w.acked.Head.LastSeq; got != want {
		return fmt.Errorf("the document is at %d, acknowledged is %d", got, want)
	}
	for id, before := range w.before {
		if w.shown[id] < before { // The texts hold the time.
			return fmt.Errorf("item %q was shown as %q, and then as %q", id, before, w.shown[id])
		}
	}
	for _, d := range w.state.Drafts() {
		if text, seen := w.shown[d.ID]; seen && text != d.Content {
			return fmt.Errorf("draft %q is %q, and shown is %q", d.ID, d.Content, text)
		}
	}
	if w.state.gone != w.left {
		return fmt.Errorf("gone is %v, and Leave was given: %v", w.state.gone, w.left)
	}
	if !w.left && (w.under != nil) != (len(w.state.flight) > 0) {
		return errors.New("the state and the store disagree about the commit under way")
	}
	return nil
}

func (w *world) perform(effects []Effect) error {
	gone := w.left
	for i, effect := range effects {
		if _, refusal := effect.(Reply); w.left && (!gone || !refusal) {
			return fmt.Errorf("effect %T comes after Leave", effect)
		}
		if err := w.one(effect); err != nil {
			return fmt.Errorf("effect %d, %T: %w", i, effect, err)
		}
	}
	return nil
}

func (w *world) one(effect Effect) error {
	switch e := effect.(type) {
	case *Commit:
		return w.onCommit(*e)
	case Reply:
		return w.answer(e.Ticket, e.Err)
	case *StartTurn:
		return w.onStart(*e)
	case AttachTurn:
		return w.onAttach(e)
	case StopTurn:
		r := w.run(e.Turn)
		if !r.ran || r.asked || r.settled > 0 {
			return fmt.Errorf("turn %q is stopped: %+v", e.Turn, *r)
		}
		r.asked = true
	case Settle:
		return w.onSettle(e)
	case Publish:
		return w.onPublish(e.Event)
	case Wake:
		if w.woken {
			return errors.New("a second wake before its tick")
		}
		w.woken = true
	case Leave:
		w.left, w.under = true, nil
		for id, r := range w.runs {
			if r.started && r.settled != 1 {
				return fmt.Errorf("turn %q is left behind", id)
			}
		}
		return w.allAnswered()
	}
	return nil
}

func (w *world) answer(to Ticket, err error) error {
	t := to.(*ticket)
	t.answers, t.err = t.answers+1, err
	if t.answers > 1 {
		return fmt.Errorf("%s is answered again, with %w", t.what, err)
	}
	if err == nil && t.durable != "" {
		if _, found := w.acked.Find(t.durable); !found {
			return fmt.Errorf("%s is answered before item %q is stored", t.what, t.durable)
		}
	}
	return nil
}

// activeTurn returns the active turn and its state, which may be cancelling. It is never terminal.
func activeTurn(s *State) (messages.Turn, bool) {
	if s.active == nil {
		return messages.Turn{}, false
	}
	return s.active.present(), true
}

func (w *world) allAnswered() error {
	for _, t := range w.tickets {
		if t.answers != 1 && !t.optional {
			return fmt.Errorf("%s was answered %d times", t.what, t.answers)
		}
	}
	return nil
}

func (w *world) onStart(e StartTurn) error {
	r := w.run(e.Turn.ID)
	if r.started {
		return fmt.Errorf("turn %q is started again", e.Turn.ID)
	}
	r.started, r.ran = true, e.Run
	w.order = append(w.order, e.Turn.ID)
	head := &w.acked.Head
	if head.Turn == nil || head.Turn.ID != e.Turn.ID || head.Status != messages.SessionRunning {
		return fmt.Errorf("turn %q starts before it is stored", e.Turn.ID)
	}
	if last := w.acked.Items[len(w.acked.Items)-1]; last.TurnID != e.Turn.ID || last.Content != e.Input {
		return fmt.Errorf("turn %q starts before its input is stored", e.Turn.ID)
	}
	return w.answer(e.Ticket, nil)
}

func (w *world) onAttach(e AttachTurn) error {
	settled := w.acked.Head.Turn != nil && w.acked.Head.Turn.ID == e.Turn.ID && w.acked.Head.Turn.Status.Terminal()
	if r := w.runs[e.Turn.ID]; r != nil && r.settled > 0 {
		settled = true
	}
	if e.Err != nil && w.acked.Head.Status != messages.SessionRunning {
		return fmt.Errorf("turn %q is given with %w, and its ending is stored", e.Turn.ID, e.Err)
	}
	if e.Turn.Status.Terminal() != settled {
		return fmt.Errorf("turn %q is given as %s, settled is %v", e.Turn.ID, e.Turn.Status, settled)
	}
	return w.answer(e.Ticket, nil)
}

func (w *world) onSettle(e Settle) error {
	r := w.run(e.Turn.ID)
	if r.settled++; r.settled > 1 {
		return fmt.Errorf("turn %q is settled again", e.Turn.ID)
	}
	if !e.Turn.Status.Terminal() {
		return fmt.Errorf("turn %q is settled as %s", e.Turn.ID, e.Turn.Status)
	}
	if !r.started && e.Turn.Status != messages.TurnInterrupted {
		return fmt.Errorf("turn %q was never started", e.Turn.ID)
	}
	if active, ok := activeTurn(w.state); ok && active.ID == e.Turn.ID {
		return fmt.Errorf("turn %q is settled and still active", e.Turn.ID)
	}
	if e.Err != nil {
		return nil //nolint:nilerr // The error is the turn's: its ending is not stored yet.
	}
	if head := w.acked.Head; head.Status != messages.SessionIdle || head.Turn == nil || *head.Turn != *e.Turn {
		return fmt.Errorf("turn %q is settled, and stored is %+v", e.Turn.ID, head.Turn)
	}
	if e.Turn.Error != "" {
		last := w.acked.Items[len(w.acked.Items)-1]
		if last.Type != messages.ItemError || last.Error != e.Turn.Error || last.TurnID != e.Turn.ID {
			return fmt.Errorf("turn %q ended with %q, and its last item is %+v", e.Turn.ID, e.Turn.Error, last)
		}
	}
	return nil
}

// onPublish holds a durable event to the record that it tells of.
func (w *world) onPublish(e messages.Event) error {
	if !w.watching {
		return fmt.Errorf("event %q is published to nobody", e.Kind)
	}
	if e.Item != nil {
		w.shown[e.Item.ID] = e.Item.Content
	}
	if e.Seq == 0 {
		if e.Kind != messages.EventDraft && e.Kind != messages.EventTurnCancelling {
			return fmt.Errorf("event %q has no number", e.Kind)
		}
		return nil
	}
	if e.Seq > w.acked.Head.LastSeq {
		return fmt.Errorf("event %d is published, stored is %d", e.Seq, w.acked.Head.LastSeq)
	}
	for seq := w.published + 1; seq < e.Seq; seq++ {
		if kind := w.journal[seq-1].Kind; kind != messages.KindCreated && kind != messages.KindOpened {
			return fmt.Errorf("event %d follows %d, and %d was a %s", e.Seq, w.published, seq, kind)
		}
	}
	if e.Seq <= w.published {
		return fmt.Errorf("event %d follows %d", e.Seq, w.published)
	}
	w.published = e.Seq
	var want messages.Item
	switch c := w.journal[e.Seq-1].change.(type) {
	case messages.ItemAppended:
		want = *c.Item
	case messages.ItemUpdated:
		want = *c.Item
	default:
		return nil
	}
	want.Seq = e.Seq
	if !reflect.DeepEqual(e.Item, &want) {
		return fmt.Errorf("event %d tells of %+v, stored is %+v", e.Seq, e.Item, want)
	}
	return nil
}

// onCommit takes a commit as a store would: it encodes at once, and checks number and repeat.
func (w *world) onCommit(c Commit) error {
	records := make([]stored, 0, len(c.Changes))
	for i, change := range c.Changes {
		rec, err := messages.EncodeChange(c.After+uint64(i)+1, c.At, change)
		if err != nil {
			return err
		}
		if rec.Kind == messages.KindDeleted && i != len(c.Changes)-1 {
			return errors.New("something follows the deletion")
		}
		back, err := w.known.decode(rec)
		if err != nil {
			return err
		}
		records = append(records, stored{rec, back})
	}
	if c.Repeat {
		if w.under == nil || !w.doubt || c.ID != w.under.ID || !reflect.DeepEqual(records, w.records) {
			return fmt.Errorf("commit %d is not the one in doubt", c.ID)
		}
		return nil
	}
	if w.under != nil {
		return errors.New("a second commit while one is under way")
	}
	if c.ID <= w.lastID || len(records) == 0 {
		return fmt.Errorf("commit %d with %d changes follows commit %d", c.ID, len(records), w.lastID)
	}
	if c.At != w.now {
		return fmt.Errorf("commit is dated %d, and it is %d", c.At, w.now)
	}
	if c.After != w.acked.Head.LastSeq {
		return fmt.Errorf("commit follows %d, stored is %d", c.After, w.acked.Head.LastSeq)
	}
	if first := records[0].Kind; (w.acked.Head.Epoch != w.epoch) != (first == messages.KindCreated || first == messages.KindOpened) {
		return fmt.Errorf("the first record of a commit at epoch %d of %d is a %s", w.acked.Head.Epoch, w.epoch, first)
	}
	w.under, w.records, w.stored, w.doubt, w.lastID = &c, records, false, false, c.ID
	return nil
}

// keep stores the commit under way.
func (w *world) keep() {
	if w.stored {
		return
	}
	w.stored = true
	w.journal = append(w.journal, w.records...)
}

// ack answers the commit under way with success.
func (w *world) ack() error {
	if w.under == nil {
		return w.send(Committed{ID: w.lastID})
	}
	w.keep()
	if err := w.checkTurns(); err != nil {
		return err
	}
	if err := replay(w.acked, w.records); err != nil {
		return err
	}
	id := w.under.ID
	w.under = nil
	if err := w.send(Committed{ID: id}); err != nil {
		return err
	}
	return w.sameAsAcked()
}

// checkTurns: items are added and changed by their own turn, between its start and its end.
func (w *world) checkTurns() error {
	open := w.state.open()
	for i := range w.records {
		var item messages.Item
		switch c := w.records[i].change.(type) {
		case messages.TurnStarted:
			open = c.Turn.ID
			continue
		case messages.TurnEnded:
			if c.Turn.ID != open {
				return fmt.Errorf("turn %q ends, open is %q", c.Turn.ID, open)
			}
			open = ""
			continue
		case messages.ItemAppended:
			item = *c.Item
		case messages.ItemUpdated:
			item = *c.Item
			if at, found := w.acked.Find(item.ID); found && w.acked.Items[at].TurnID != item.TurnID {
				return fmt.Errorf("item %q of turn %q moves to turn %q", item.ID, w.acked.Items[at].TurnID, item.TurnID)
			}
		default:
			continue
		}
		if item.TurnID != open || open == "" {
			return fmt.Errorf("item %q of turn %q changes, open is %q", item.ID, item.TurnID, open)
		}
	}
	return nil
}

var errStore = errors.New("store fault")

// refuse answers that the commit under way is certainly not stored.
func (w *world) refuse() error {
	if w.under == nil {
		return w.send(Committed{ID: w.lastID + 7, Err: errStore})
	}
	id := w.under.ID
	w.under = nil
	return w.send(Committed{ID: id, Err: errStore})
}

// unsure answers that the commit may be stored, which it is or is not.
func (w *world) unsure(stored bool) error {
	if w.under == nil {
		return w.send(Committed{ID: w.lastID, Err: errStore, Unknown: true})
	}
	if stored {
		w.keep()
	}
	w.doubt = true
	return w.send(Committed{ID: w.under.ID, Err: errStore, Unknown: true})
}

// fence answers that another writer has the session.
func (w *world) fence() error {
	if w.under == nil {
		return w.send(Committed{ID: w.lastID, Err: errStore, Dead: true})
	}
	id := w.under.ID
	w.under = nil
	return w.send(Committed{ID: id, Err: errStore, Dead: true})
}

// sameAsAcked compares the live document with the replayed one.
func (w *world) sameAsAcked() error {
	live, want := w.state.doc, w.acked
	if !reflect.DeepEqual(live.Head, want.Head) {
		return fmt.Errorf("the live head is %+v, replayed %+v", live.Head, want.Head)
	}
	if len(live.Items) != len(want.Items) {
		return fmt.Errorf("%d live items, %d replayed", len(live.Items), len(want.Items))
	}
	for i := range live.Items {
		if !sameItem(live.Items[i], want.Items[i]) {
			return fmt.Errorf("live item %+v, replayed %+v", live.Items[i], want.Items[i])
		}
	}
	return nil
}

// sameItem is a quick comparison: the number changes with each change.
func sameItem(a, b *messages.Item) bool {
	return a.ID == b.ID && a.Seq == b.Seq && a.Content == b.Content && a.Status == b.Status && a.StreamStatus == b.StreamStatus &&
		a.TurnID == b.TurnID && a.CallID == b.CallID && a.CreatedAt == b.CreatedAt && a.UpdatedAt == b.UpdatedAt && bytes.Equal(a.Data, b.Data)
}

func replay(doc *messages.Document, records []stored) error {
	for i := range records {
		rec := &records[i]
		if err := doc.Apply(rec.Seq, rec.At, rec.change); err != nil {
			return err
		}
	}
	return nil
}

// crash ends the process and opens the session again from what the store has.
func (w *world) crash() error {
	if w.deleted() || len(w.journal) == 0 {
		return nil // Nothing to open.
	}
	for _, t := range w.tickets {
		t.optional = true
	}
	w.runs = map[messages.TurnID]*run{}
	w.order = nil
	w.under, w.records, w.stored, w.doubt, w.woken, w.left = nil, nil, false, false, false, false
	w.view, w.viewCopy, w.shown = nil, nil, map[messages.ItemID]string{}
	w.acked = messages.NewDocument("s1")
	if err := replay(w.acked, w.journal); err != nil {
		return err
	}
	doc := messages.NewDocument("s1")
	if err := replay(doc, w.journal); err != nil {
		return err
	}
	if err := checkStored(doc); err != nil {
		return err
	}
	w.epoch++
	w.now++
	w.published, w.lastID = doc.Head.LastSeq, 0
	state, effects := Restore(doc, w.epoch, w.now, Limits{Queue: 3})
	w.state = state
	state.Watch(w.watching)
	if err := w.perform(effects); err != nil {
		return err
	}
	return state.Check()
}

// restart ends the actor and not the process: those who wait are told before the next state is made.
func (w *world) restart() error {
	for _, effect := range w.state.Abandon(w.now, ErrClosing) {
		if reply, ok := effect.(Reply); ok {
			if err := w.answer(reply.Ticket, reply.Err); err != nil {
				return err
			}
			if reply.Err == nil && !strings.Contains(reply.Ticket.(*ticket).what, "drain") {
				return fmt.Errorf("%s is answered well by a state that is given up", reply.Ticket.(*ticket).what)
			}
		}
	}
	if err := w.allAnswered(); err != nil {
		return err
	}
	if err := w.state.Check(); err != nil {
		return err
	}
	if w.under, w.left = nil, true; len(w.journal) == 0 || w.deleted() {
		for _, r := range w.runs {
			r.settled = 1 // The shell ends what runs: no next state will.
		}
		return nil
	}
	return w.crash()
}

// watch changes whether somebody wants events.
func (w *world) watch() error {
	w.watching, w.shown = !w.watching, map[messages.ItemID]string{}
	w.state.Watch(w.watching)
	w.published = w.acked.Head.LastSeq
	return nil
}

// checkStored holds what a crash left to the rules, but for the turn that ran.
func checkStored(doc *messages.Document) error {
	open := messages.TurnID("")
	if doc.Head.Status == messages.SessionRunning {
		open = doc.Head.Turn.ID
	}
	return CheckHistory(doc, open)
}

func (w *world) deleted() bool {
	n := len(w.journal)
	return n > 0 && w.journal[n-1].Kind == messages.KindDeleted
}

// settle lets everything come to an end: commits are stored, stopped turns stop, running ones finish.
func (w *world) settle() error {
	for range 200 {
		var err error
		active, busy := activeTurn(w.state)
		switch r := w.run(active.ID); {
		case w.left:
			return w.atRest()
		case w.under != nil:
			err = w.ack()
		case busy && r.asked:
			err = w.send(TurnStopped{Turn: active.ID})
		case busy:
			err = w.send(Finish{Turn: active.ID, Ticket: w.ticket("finish at the end")})
		case w.woken:
			w.woken = false
			err = w.send(Tick{})
		default:
			return w.atRest()
		}
		if err != nil {
			return err
		}
	}
	return errors.New("the session never comes to rest")
}

// atRest checks what holds when nothing is going on any more.
func (w *world) atRest() error {
	if !w.left && !w.state.Idle() {
		return errors.New("nothing goes on and the session is not idle")
	}
	for id, r := range w.runs {
		if r.started && r.settled != 1 {
			return fmt.Errorf("turn %q was settled %d times", id, r.settled)
		}
	}
	if err := w.allAnswered(); err != nil {
		return err
	}
	if w.left {
		return nil
	}
	if err := CheckHistory(w.state.doc, ""); err != nil {
		return err
	}
	last := w.state.doc.Head.LastSeq
	if w.watching && last > w.published && w.journal[last-1].Kind != messages.KindOpened && w.journal[last-1].Kind != messages.KindCreated {
		return fmt.Errorf("published is %d, stored is %d", w.published, last)
	}
	return w.sameAsAcked()
}

// recovers opens what the store has after a crash here, and runs a turn in it. Many worlds store the same: it is tried once for them.
func (w *world) recovers(journal []stored) error {
	var hash maphash.Hash
	hash.SetSeed(w.known.seed)
	for i := range journal {
		hash.Write(journal[i].Body)
		hash.WriteString(string(journal[i].Kind))
	}
	sum := hash.Sum64()
	if w.known.good[sum] {
		return nil
	}
	if err := w.recover(journal); err != nil {
		return err
	}
	w.known.good[sum] = true
	return nil
}

// known is what other worlds have found out: which journals were recovered from, and what records decode to.
type known struct {
	seed    maphash.Seed
	good    map[uint64]bool
	decoded map[messages.ChangeKind]map[string]messages.Change
}

func newKnown() *known {
	return &known{seed: maphash.MakeSeed(), good: map[uint64]bool{}, decoded: map[messages.ChangeKind]map[string]messages.Change{}}
}

func (k *known) decode(rec messages.Record) (messages.Change, error) {
	if change, found := k.decoded[rec.Kind][string(rec.Body)]; found {
		return change, nil
	}
	change, err := messages.DecodeRecord(rec)
	if k.decoded[rec.Kind] == nil {
		k.decoded[rec.Kind] = map[string]messages.Change{}
	}
	k.decoded[rec.Kind][string(rec.Body)] = change
	return change, err
}

func (w *world) recover(journal []stored) error {
	v := &world{
		epoch: w.epoch + 1, now: w.now, journal: journal[:len(journal):len(journal)], turns: w.turns + 1000, items: w.items + 1000,
		runs: map[messages.TurnID]*run{}, watching: true, known: w.known,
	}
	if v.deleted() || len(v.journal) == 0 {
		return nil
	}
	if err := v.crash(); err != nil {
		return fmt.Errorf("recovering: %w", err)
	}
	if err := v.settle(); err != nil {
		return fmt.Errorf("recovering: %w", err)
	}
	before := v.acked.Head.TurnCount
	if err := v.prompt(messages.OnBusyReject); err != nil {
		return fmt.Errorf("a new turn after recovery: %w", err)
	}
	if err := v.settle(); err != nil {
		return fmt.Errorf("a new turn after recovery: %w", err)
	}
	if head := v.acked.Head; head.TurnCount != before+1 || head.Turn.Status != messages.TurnCompleted {
		return fmt.Errorf("a new turn after recovery ended as %+v", head.Turn)
	}
	return nil
}

func (w *world) String() string { return strings.Join(w.log, " ") }
