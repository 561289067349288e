package catalog

import (
	"encoding/binary"
	"hash/maphash"
)

// What a scan found is kept packed, in memory and in a cache file alike: numbers as varints, texts with their length. A listing of ten
// thousand sessions is then one object for the collector, it costs no memory to look through, and a new process has little to read.

// packer packs.
type packer struct {
	b     []byte
	known recall
}

func (p *packer) number(n uint64) { p.b = binary.AppendUvarint(p.b, n) }

func (p *packer) signed(n int64) { p.b = binary.AppendVarint(p.b, n) }

// text packs a text, or where the same one stands already. The number that it begins with tells which: the lowest bit is that of a reference.
func (p *packer) text(s string) {
	if at, ok := p.known.find(p.b, s); ok {
		p.number(uint64(at)<<1 | 1)
		p.number(uint64(len(s)))
		return
	}
	p.number(uint64(len(s)) << 1)
	p.known.note(s, len(p.b))
	p.b = append(p.b, s...)
}

func (p *packer) texts(list []string) {
	p.number(uint64(len(list)))
	for _, s := range list {
		p.text(s)
	}
}

// The marks of a session. Above them stands a bit for each of its texts that is not empty.
const (
	markNonInteractive = 1 << iota
	markArchived
	markStem // the id is the name of the store file
	marks    = iota
)

// packedTexts are the texts of a session that are often empty. A new one needs a new [cacheForm].
func packedTexts(s *Session) [10]*string {
	return [...]*string{
		&s.ProjectPath, &s.ProjectName, &s.Title, &s.Recap, &s.Branch, &s.Worktree, &s.Parent, (*string)(&s.Relation), &s.Repository, &s.Ref,
	}
}

// session packs a session. index tells which unit has a path, for the file that holds it. unpacker.session must read the same.
func (p *packer) session(s *Session, index func(path string) (int, bool)) {
	mark := uint64(0)
	if s.NonInteractive {
		mark |= markNonInteractive
	}
	if s.Archived {
		mark |= markArchived
	}
	if s.ID == stem(s.StoreFile) {
		mark |= markStem
	}
	texts := packedTexts(s)
	for i, t := range texts {
		if *t != "" {
			mark |= 1 << (marks + i)
		}
	}
	p.number(mark)
	p.signed(s.TimeMS)
	if i, ok := index(s.StoreFile); ok {
		p.number(uint64(i) + 1)
	} else {
		p.number(0)
		p.text(s.StoreFile)
	}
	if mark&markStem == 0 {
		p.text(s.ID)
	}
	for _, t := range texts {
		if *t != "" {
			p.text(*t)
		}
	}
	p.texts(s.Prompts)
	p.signed(s.StartedMS)
}

func (p *packer) skips(list []Skipped) {
	p.number(uint64(len(list)))
	for _, s := range list {
		p.text(string(s.Reason))
		p.number(uint64(s.Count))
		p.texts(s.Samples)
	}
}

// stem is a file's name without its extension: very often the id of the session in it.
func stem(path string) string {
	end := len(path)
	for i := len(path) - 1; i >= 0; i-- {
		switch path[i] {
		case '.':
			if end == len(path) {
				end = i
			}
		case '/', '\\':
			return path[i+1 : max(end, i+1)]
		}
	}
	return path[:end]
}

// recall remembers where some of the texts stand that were packed: the newest ones, as far as its slots go. With no slots it remembers nothing.
type recall struct {
	seed  maphash.Seed
	slots []span
}

// span is a piece of what was packed.
type span struct{ at, n uint32 }

const (
	recallSlots = 1 << 12 // a power of two
	recallBytes = 6       // a reference to less saves nothing
)

func newRecall() recall { return recall{maphash.MakeSeed(), make([]span, recallSlots)} }

func (r *recall) slot(s string) *span {
	if len(r.slots) == 0 || len(s) < recallBytes {
		return nil
	}
	return &r.slots[maphash.String(r.seed, s)&(recallSlots-1)]
}

func (r *recall) find(b []byte, s string) (int, bool) {
	slot := r.slot(s)
	if slot == nil || int(slot.n) != len(s) || string(b[slot.at:slot.at+slot.n]) != s {
		return 0, false
	}
	return int(slot.at), true
}

func (r *recall) note(s string, at int) {
	if slot := r.slot(s); slot != nil {
		*slot = span{uint32(at), uint32(len(s))}
	}
}
