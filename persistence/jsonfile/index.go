package jsonfile

import (
	"slices"
	"sync"

	"agentd/messages"
)

// index is what is known in memory, and the one lock that guards it. Nobody holds the lock over I/O.
type index struct {
	mu sync.Mutex
	// settled is signalled when appends of sessions are no longer being written.
	settled *sync.Cond
	// sessions holds those that cannot be told from their files alone, and some others; see layout.key for the key.
	sessions map[messages.SessionID]*session
	// segs are the segments that are needed, oldest first. The last one is where the next append goes, or where
	// the next segment goes on from.
	segs []*segment
	// swept is how many sessions there were after the last sweep.
	swept int
	// keep says that nothing may be forgotten just now.
	keep bool
}

func newIndex() *index {
	x := &index{sessions: make(map[messages.SessionID]*session)}
	x.settled = sync.NewCond(&x.mu)
	return x
}

// last is the newest segment that counts, or nil. The lock is held.
func (x *index) last() *segment {
	for _, seg := range slices.Backward(x.segs) {
		if !seg.void {
			return seg
		}
	}
	return nil
}

// kept is the number of the oldest segment that may stay, though it is full, when so many full ones are allowed. The lock is held.
func (x *index) kept(held int) uint64 {
	kept := uint64(0)
	for _, seg := range slices.Backward(x.segs) {
		if seg.void {
			continue
		}
		kept = seg.number
		if held--; held < 0 {
			break
		}
	}
	return kept
}

// giveUp adds a segment that is void.
func (x *index) giveUp(seg *segment) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.segs = append(x.segs, seg)
}

// pinLast keeps the newest segment, if there is one, from being dropped until it is unpinned.
func (x *index) pinLast() *segment {
	x.mu.Lock()
	defer x.mu.Unlock()
	seg := x.last()
	if seg != nil {
		seg.pins++
	}
	return seg
}

func (x *index) unpin(segs ...*segment) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, seg := range segs {
		if seg != nil {
			seg.pins--
		}
	}
}

// adopt adds a new last segment. What the one before holds from an offset on lies in the new one too, shifted: spans
// there are moved, so that nothing unproven is read again.
func (x *index) adopt(seg, prev *segment, shift int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.segs = append(x.segs, seg)
	if prev == nil {
		return
	}
	prev.mapped.allowed.Store(true)
	if prev.proven == prev.size {
		return
	}
	for _, sess := range x.sessions {
		first := slices.IndexFunc(sess.spans, func(sp span) bool { return sp.seg == prev && sp.off >= prev.proven })
		if first < 0 {
			continue
		}
		sess.spans = slices.Clone(sess.spans)
		for i := first; i < len(sess.spans) && sess.spans[i].seg == prev; i++ {
			sess.spans[i].seg = seg
			sess.spans[i].off += shift
			prev.live--
			seg.live++
		}
	}
}

// takeDroppable removes the oldest segment from the list if nothing needs it, and returns it. The last one stays unless everything
// is to go.
func (x *index) takeDroppable(everything bool) *segment {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.segs) == 0 || x.segs[0] == x.last() && !everything {
		return nil
	}
	seg := x.segs[0]
	if seg.live > 0 || seg.pins > 0 {
		return nil
	}
	x.segs = x.segs[1:]
	return seg
}

// putBack undoes takeDroppable.
func (x *index) putBack(seg *segment) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.segs = slices.Insert(x.segs, 0, seg)
}

// atRest reports whether no span is live, and that the last segment has grown past a size.
func (x *index) atRest(size int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, seg := range x.segs {
		if seg.live > 0 {
			return false
		}
	}
	last := x.last()
	return last != nil && last.size > size
}

// sweep forgets sessions that can be told from their files, once there are many. The lock is held.
func (x *index) sweep(limit int) {
	if x.keep || len(x.sessions) <= limit+x.swept {
		return
	}
	kept := 0
	for key, sess := range x.sessions {
		if !sess.idle() {
			continue
		}
		if kept++; kept > limit/2 {
			delete(x.sessions, key)
		}
	}
	x.swept = len(x.sessions)
}
