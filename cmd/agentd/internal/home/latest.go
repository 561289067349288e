package home

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"agentd/messages"
	"agentd/persistence"
)

// HeadStore is what is needed to look for a session: an open store or a [Reader].
type HeadStore interface {
	Head(ctx context.Context, id messages.SessionID) (messages.Head, error)
	// Unfolded lists the sessions whose file lacks something.
	Unfolded() []persistence.Unfolded
}

// Unfolded lists the sessions whose file lacks something.
func (r *Reader) Unfolded() []persistence.Unfolded { return r.store.Unfolded() }

// Entry is a session file.
type Entry struct {
	ID messages.SessionID
	// ModTime is when the file was written: never before the session's last change that it holds.
	ModTime time.Time
}

// names lists the ids of the session files that begin with a prefix, in no order. It reads no file.
func (d Dir) names(prefix string) ([]os.DirEntry, error) {
	found, err := os.ReadDir(d.Sessions())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("listing the sessions: %w", err)
	}
	return slices.DeleteFunc(found, func(file os.DirEntry) bool {
		return file.IsDir() || !strings.HasSuffix(file.Name(), sessionSuffix) || !strings.HasPrefix(file.Name(), prefix) || idOf(file).Validate() != nil
	}), nil
}

func idOf(file os.DirEntry) messages.SessionID {
	return messages.SessionID(strings.TrimSuffix(file.Name(), sessionSuffix))
}

// Entries lists the session files whose id begins with a prefix, the newest first. It reads no file, and leaves out names that are no
// session's.
func (d Dir) Entries(prefix string) ([]Entry, error) {
	names, err := d.names(prefix)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(names))
	for _, file := range names {
		if info, err := file.Info(); err == nil { // Else it was deleted meanwhile.
			entries = append(entries, Entry{ID: idOf(file), ModTime: info.ModTime()})
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.ID, b.ID))
	})
	return entries, nil
}

// Recent lists the ids of the sessions that begin with a prefix, roughly the latest first, without reading them.
func (r *Reader) Recent(prefix string) ([]messages.SessionID, error) {
	entries, err := r.dir.Entries(prefix)
	if err != nil {
		return nil, err
	}
	var ids []messages.SessionID
	for _, u := range r.store.Unfolded() {
		if strings.HasPrefix(string(u.Session), prefix) {
			ids = append(ids, u.Session)
		}
	}
	slices.Sort(ids)
	unfolded := ids
	for _, entry := range entries {
		if _, twice := slices.BinarySearch(unfolded, entry.ID); !twice {
			ids = append(ids, entry.ID)
		}
	}
	return ids, nil
}

// Latest returns the session of an agent that changed last, or false. An empty agent is any. A file is never older than the last
// change in it, so the search ends at the first file that is older than the best session: usually it reads one or two of them. Sessions that
// cannot be read are passed over and named.
func (d Dir) Latest(ctx context.Context, store HeadStore, agent messages.AgentID) (head messages.Head, bad []persistence.BadSession, found bool, err error) {
	entries, err := d.Entries("")
	if err != nil {
		return head, nil, false, err
	}
	look := func(id messages.SessionID) {
		next, err := store.Head(ctx, id)
		switch {
		case err == nil && (agent == "" || next.AgentID == agent) && (!found || next.UpdatedAt > head.UpdatedAt):
			head, found = next, true
		case err != nil && !errors.Is(err, persistence.ErrNotFound) && !errors.Is(err, persistence.ErrDeleted):
			bad = append(bad, persistence.BadSession{ID: id, Err: err})
		}
	}
	seen := map[messages.SessionID]bool{}
	for _, u := range store.Unfolded() {
		look(u.Session)
		seen[u.Session] = true
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return head, bad, found, err
		}
		if found && entry.ModTime.Unix() < head.UpdatedAt {
			break
		}
		if !seen[entry.ID] {
			look(entry.ID)
		}
	}
	return head, bad, found, nil
}

// minPrefix is the shortest beginning of an id that is completed.
const minPrefix = 4

// AmbiguousError means that a shortened id is the beginning of several.
type AmbiguousError struct {
	Prefix string
	// Matches are some of them.
	Matches []messages.SessionID
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("session %q: the id is short for several, such as %q and %q: give more of it", e.Prefix, e.Matches[0], e.Matches[1])
}

// Resolve returns the whole id for one that a person gave: the id itself, or a beginning of it of at least four characters that only one session has, with or without the
// prefix "agt-ses-". What fits no session comes back as it is, if it is an id at all.
func (d Dir) Resolve(store HeadStore, given string) (messages.SessionID, error) {
	id := messages.SessionID(given)
	if err := id.Validate(); err != nil {
		return "", err
	}
	if len(given) < minPrefix {
		return id, nil
	}
	if _, err := os.Stat(d.Session(id)); err == nil {
		return id, nil
	}
	names, err := d.names("")
	if err != nil {
		return "", err
	}
	candidates := map[messages.SessionID]bool{}
	for _, u := range store.Unfolded() {
		candidates[u.Session] = true
	}
	for _, file := range names {
		candidates[idOf(file)] = true
	}
	if candidates[id] {
		return id, nil
	}
	var matches []messages.SessionID
	for candidate := range candidates {
		if shortFor(given, string(candidate)) {
			matches = append(matches, candidate)
		}
	}
	switch len(matches) {
	case 0:
		return id, nil
	case 1:
		return matches[0], nil
	default:
		slices.Sort(matches)
		return "", &AmbiguousError{Prefix: given, Matches: matches}
	}
}

// shortFor reports whether a person may write given for the id.
func shortFor(given, id string) bool {
	bare, made := strings.CutPrefix(id, messages.SessionPrefix)
	return made && strings.HasPrefix(bare, given) || strings.HasPrefix(id, given) && (!made || len(given) >= len(messages.SessionPrefix)+minPrefix)
}

// leastShort is how many characters a shortened id has at least.
const leastShort = 8

// Shorten returns for each id the beginning that tells it from the others, for people; [Dir.Resolve] takes it. Ids that agentd did not make up
// stay whole.
func Shorten(ids []messages.SessionID) map[messages.SessionID]string {
	sorted := slices.Sorted(slices.Values(ids))
	short := make(map[messages.SessionID]string, len(ids))
	for i, id := range sorted {
		length := leastShort
		if i > 0 {
			length = max(length, commonPrefix(string(id), string(sorted[i-1]))+1-len(messages.SessionPrefix))
		}
		if i+1 < len(sorted) {
			length = max(length, commonPrefix(string(id), string(sorted[i+1]))+1-len(messages.SessionPrefix))
		}
		short[id] = string(id)
		if bare, made := strings.CutPrefix(string(id), messages.SessionPrefix); made {
			short[id] = bare[:min(length, len(bare))]
		}
	}
	return short
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
