package catalog

import (
	"encoding/binary"
	"errors"
	"math"
)

// shelf is what one full scan found in one store, packed: each unit with what became of it, and the sessions that came of all. As long as
// each file is as it was, the next scan has the same answer. A shelf never changes.
type shelf struct {
	units string // see packUnits
	count int    // how many units there are
	first int    // where the first one stands in units
	seen  int    // how many of them there were on the disk

	failed bool // a unit that is the whole store could not be read
	skips  []Skipped

	found string // see packFound

	// parts returns what was found in each unit, for the day when another one changes; see packParts. A shelf from a cache file reads it
	// when it is asked for.
	parts func() (string, error)
}

// verdict is what became of one unit. While the next look comes to an equal one, nothing changed.
type verdict struct {
	stamp  stamp
	known  bool // it was parsed, and need not be parsed again as long as the stamp holds
	absent bool // there is no such file
	loss   bool // it could not be read
	reason Reason
	part   uint64 // when it is not known: a hash of what was found
	uses   string // what Parsing.Uses told, each with a NUL behind it
}

// outcome is a verdict and what was found in the unit, packed.
type outcome struct {
	verdict
	part string
}

// The marks of a verdict.
const (
	markKnown = 1 << iota
	markAbsent
	markLoss
)

func (p *packer) verdict(v *verdict) {
	mark := uint64(0)
	if v.known {
		mark |= markKnown
	}
	if v.absent {
		mark |= markAbsent
	}
	if v.loss {
		mark |= markLoss
	}
	p.number(mark)
	p.text(string(v.reason))
	p.signed(v.stamp.size)
	p.signed(v.stamp.modNS)
	p.signed(v.stamp.changeNS - v.stamp.modNS) // Nearly always small.
	p.number(v.stamp.inode)
	p.number(v.stamp.with)
	p.number(v.part)
	p.text(v.uses)
}

// verdict reads what packer.verdict wrote.
func (u *unpacker) verdict() verdict {
	mark := u.number()
	v := verdict{known: mark&markKnown != 0, absent: mark&markAbsent != 0, loss: mark&markLoss != 0, reason: Reason(u.text())}
	v.stamp.size, v.stamp.modNS = u.signed(), u.signed()
	v.stamp.changeNS = v.stamp.modNS + u.signed()
	v.stamp.inode, v.stamp.with, v.part, v.uses = u.number(), u.number(), u.number(), u.text()
	return v
}

// packUnits packs the units with their verdicts behind a summary of all. A path has what it shares with the one before it left out.
func packUnits(st *store, verdicts []verdict) string {
	p := packer{b: make([]byte, 0, 96*len(st.units)+64)}
	p.number(uint64(st.seen))
	failed := uint64(0)
	if st.failed {
		failed = 1
	}
	p.number(failed)
	p.skips(st.later.list())
	p.number(uint64(len(st.units)))
	last := ""
	for i, u := range st.units {
		n := 0
		for n < len(last) && n < len(u.Path) && last[n] == u.Path[n] {
			n++
		}
		last = u.Path
		p.number(uint64(n))
		p.text(u.Path[n:])
		p.text(u.Kind)
		p.verdict(&verdicts[i])
	}
	return string(p.b)
}

// packFound packs sessions behind a table of where each one stands, in four bytes each, and their number.
func packFound(sessions []*Session, units []Unit) string {
	paths := make(map[string]int, len(units))
	for i, u := range units {
		paths[u.Path] = i
	}
	index := func(path string) (int, bool) {
		i, ok := paths[path]
		return i, ok
	}
	table := 4 * (len(sessions) + 1)
	p := packer{b: make([]byte, table, table+128*len(sessions)), known: newRecall()}
	binary.LittleEndian.PutUint32(p.b, uint32(len(sessions)))
	for i := range sessions {
		binary.LittleEndian.PutUint32(p.b[4*(i+1):], uint32(len(p.b)))
		p.session(sessions[i], index)
	}
	return string(p.b)
}

// part packs what was found in one unit.
func (p *packer) part(sessions []Session, skips []Skipped, u Unit) string {
	const many = 16 // A database; its texts are often the same.
	p.b, p.known = p.b[:0], recall{}
	if len(sessions) >= many {
		p.known = newRecall()
	}
	p.number(uint64(len(sessions)))
	for i := range sessions {
		p.session(&sessions[i], func(path string) (int, bool) { return 0, path == u.Path })
	}
	p.skips(skips)
	return string(p.b)
}

// unpackPart adds the sessions of one unit to all and returns what was skipped in it.
func unpackPart(part string, u Unit, all []Session) ([]Session, []Skipped) {
	if part == "" {
		return all, nil
	}
	in, units := unpacker{s: part}, [1]Unit{u}
	from := len(all)
	for range in.count() {
		all = append(all, Session{})
		if in.session(&all[len(all)-1], units[:]); in.bad {
			return all[:from], nil
		}
	}
	return all, in.skips()
}

// packParts packs what was found in each unit, one behind the other.
func packParts(parts []string) string {
	size := 0
	for _, part := range parts {
		size += len(part) + binary.MaxVarintLen32
	}
	p := packer{b: make([]byte, 0, size)}
	for _, part := range parts {
		p.number(uint64(len(part)))
		p.b = append(p.b, part...)
	}
	return string(p.b)
}

// errShelf means that what a cache file holds makes no sense.
var errShelf = errors.New("damaged cache")

// newShelf returns a shelf over packed texts.
func newShelf(units, found string, parts func() (string, error)) (*shelf, error) {
	u := unpacker{s: units}
	s := &shelf{units: units, found: found, parts: parts}
	s.seen, s.failed, s.skips = int(u.number()&math.MaxInt32), u.number() == 1, u.skips()
	s.count, s.first = u.count(), u.at
	if u.bad || len(found) < 4 || s.len() > len(found)/4-1 {
		return nil, errShelf
	}
	return s, nil
}

// len is the number of sessions.
func (s *shelf) len() int { return int(s.word(0)) }

// word is the n-th number of the table of found.
func (s *shelf) word(n int) uint32 {
	b := s.found[4*n:]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// session unpacks the n-th session, newest first. It reports false when a damaged cache holds none there.
func (s *shelf) session(n int, units []Unit, into *Session) bool {
	u := unpacker{s: s.found, at: int(s.word(n + 1))}
	if u.at > len(u.s) {
		return false
	}
	u.session(into, units)
	return !u.bad
}

// allParts returns what was found in each unit.
func (s *shelf) allParts() ([]string, error) {
	packed, err := s.parts()
	if err != nil {
		return nil, err
	}
	u := unpacker{s: packed}
	parts := make([]string, s.count)
	for i := range parts {
		parts[i] = u.block()
	}
	if u.bad {
		return nil, errShelf
	}
	return parts, nil
}
