package ledger

import (
	"fmt"

	"github.com/tidwall/gjson"

	"agentd/messages"
	"agentd/persistence"
)

// Session is what a store must know of a session to judge an append. The zero value is a session that
// is not stored.
type Session struct {
	// LastSeq and Epoch are those of the last stored record, 0 when nothing is stored.
	LastSeq uint64
	Epoch   uint64
	// Claimed is the epoch of the newest handle. It is Epoch, or one or more above it while that handle has stored nothing.
	Claimed uint64
	// Deleted says that the last stored record is the deletion.
	Deleted bool

	// dead says that the newest handle had a conflict.
	dead bool
	// last tells a repeat of the last append.
	last mark
}

// Exists reports whether anything is stored.
func (s *Session) Exists() bool { return s.LastSeq > 0 }

// Claim makes a new handle and fences the others.
func (s *Session) Claim(id messages.SessionID) persistence.Handle {
	s.Claimed = max(s.Claimed, s.Epoch) + 1
	s.dead = false
	return persistence.Handle{Session: id, Epoch: s.Claimed}
}

// Check judges an append. It reports whether it is a repeat of what is stored already. The errors are
// those of [persistence.Store.Commit].
func (s *Session) Check(a *persistence.Append) (repeat bool, err error) {
	if err := checkSizes(a); err != nil {
		return false, err
	}
	if s.Exists() && s.last.matches(a) {
		return true, nil
	}
	switch {
	case s.Deleted:
		return false, fault(a, persistence.ErrDeleted, "")
	case a.Handle.Epoch < s.Claimed:
		return false, fault(a, persistence.ErrFenced, fmt.Sprintf("the session is at epoch %d", s.Claimed))
	case a.Handle.Epoch > s.Claimed && a.Handle.Epoch != s.Epoch+1:
		return false, fault(a, persistence.ErrFenced, "this store never gave the handle out")
	case a.Handle.Epoch == s.Claimed && s.dead:
		return false, fault(a, persistence.ErrConflict, "the handle is dead: open the session again")
	}
	if reason := s.mismatch(a); reason != "" {
		s.dead = s.dead || a.Handle.Epoch == s.Claimed
		return false, fault(a, persistence.ErrConflict, reason)
	}
	return false, nil
}

// mismatch tells why an append does not continue the session, or nothing.
func (s *Session) mismatch(a *persistence.Append) string {
	if a.After != s.LastSeq {
		return fmt.Sprintf("the last stored number is %d", s.LastSeq)
	}
	claims := a.Handle.Epoch > s.Epoch
	for i := range a.Records {
		rec := &a.Records[i]
		switch {
		case rec.Seq != a.After+1+uint64(i):
			return fmt.Sprintf("record %d of it is numbered %d", i+1, rec.Seq)
		case (rec.Kind == messages.KindCreated || rec.Kind == messages.KindOpened) != (claims && i == 0):
			return "a handle's first record claims its epoch, and no other does"
		case rec.Kind == messages.KindDeleted && i != len(a.Records)-1:
			return "nothing follows a deletion"
		}
	}
	if !claims {
		return ""
	}
	first := &a.Records[0]
	if (first.Kind == messages.KindCreated) != (s.LastSeq == 0) {
		return fmt.Sprintf("the first record is %q", first.Kind)
	}
	if epoch := gjson.GetBytes(first.Body, "epoch").Uint(); epoch != a.Handle.Epoch {
		return fmt.Sprintf("the first record claims epoch %d", epoch)
	}
	return ""
}

// Apply notes that an append is stored. Check has let it pass before.
func (s *Session) Apply(a *persistence.Append) {
	s.LastSeq = a.After + uint64(len(a.Records))
	s.Epoch = a.Handle.Epoch
	s.Claimed = max(s.Claimed, s.Epoch)
	s.Deleted = a.Records[len(a.Records)-1].Kind == messages.KindDeleted
	s.last = markOf(a)
}

// fault wraps the refusal of an append.
func fault(a *persistence.Append, kind error, detail string) error {
	if detail == "" {
		return fmt.Errorf("appending to session %q after %d as epoch %d: %w", a.Handle.Session, a.After, a.Handle.Epoch, kind)
	}
	return fmt.Errorf("appending to session %q after %d as epoch %d: %w: %s", a.Handle.Session, a.After, a.Handle.Epoch, kind, detail)
}
