package catalog

import (
	"strings"
)

// unpacker reads what a packer wrote, or what a damaged or hostile cache file says it wrote. After the first fault bad is set and everything is
// zero. Texts are pieces of s.
type unpacker struct {
	s   string
	at  int
	bad bool
}

func (u *unpacker) number() uint64 {
	var n uint64
	for shift := uint(0); shift < 64 && u.at < len(u.s); shift += 7 {
		b := u.s[u.at]
		u.at++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	u.fail()
	return 0
}

// fail makes everything that follows zero.
func (u *unpacker) fail() { u.bad, u.at = true, len(u.s) }

func (u *unpacker) signed() int64 {
	n := u.number()
	return int64(n>>1) ^ -int64(n&1)
}

// count reads how many things follow, each of at least one byte.
func (u *unpacker) count() int {
	n := u.number()
	if n > uint64(len(u.s)-u.at) {
		u.fail()
		return 0
	}
	return int(n)
}

func (u *unpacker) text() string {
	n := u.number()
	if n&1 == 0 {
		return u.piece(n >> 1)
	}
	from, size := n>>1, u.number()
	if from > uint64(u.at) || size > uint64(u.at)-from {
		u.fail()
		return ""
	}
	return u.s[from : from+size]
}

// piece reads n bytes.
func (u *unpacker) piece(n uint64) string {
	if n > uint64(len(u.s)-u.at) {
		u.fail()
		return ""
	}
	u.at += int(n)
	return u.s[u.at-int(n) : u.at]
}

// block reads a piece with its length.
func (u *unpacker) block() string { return u.piece(u.number()) }

// texts reads a list into the memory of into, when it suffices.
func (u *unpacker) texts(into []string) []string {
	n := u.count()
	if n == 0 {
		return nil
	}
	if cap(into) < n {
		into = make([]string, 0, n)
	}
	into = into[:0]
	for range n {
		into = append(into, u.text())
	}
	return into
}

// session reads a session over what s held. units are the ones that the packer's index spoke of.
func (u *unpacker) session(s *Session, units []Unit) {
	mark := u.number()
	s.NonInteractive, s.Archived = mark&markNonInteractive != 0, mark&markArchived != 0
	s.TimeMS = u.signed()
	switch i := u.number(); {
	case i == 0:
		s.StoreFile = u.text()
	case i <= uint64(len(units)):
		s.StoreFile = units[i-1].Path
	default:
		u.fail()
	}
	if mark&markStem != 0 {
		s.ID = stem(s.StoreFile)
	} else {
		s.ID = u.text()
	}
	for i, t := range packedTexts(s) {
		*t = ""
		if mark&(1<<(marks+i)) != 0 {
			*t = u.text()
		}
	}
	s.Prompts = u.texts(s.Prompts)
	s.StartedMS = u.signed()
}

// skips reads counts. They outlive what they were read from, so their texts are copies.
func (u *unpacker) skips() []Skipped {
	var out []Skipped
	for range u.count() {
		s := Skipped{Reason: Reason(strings.Clone(u.text())), Count: int(u.number() & (1<<40 - 1))}
		for _, sample := range u.texts(nil) {
			s.Samples = append(s.Samples, strings.Clone(sample))
		}
		if u.bad {
			return nil
		}
		out = append(out, s)
	}
	return out
}
