package catalog

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
)

// A cache file is a first line with the form's and the program's version, then numbers as varints and texts with
// their length, then a CRC-32C of all that. It is decoded into pieces of one string, because a listing of ten thousand sessions
// decodes it every time.

const cacheForm = "agf-heads 1 "

var errCache = errors.New("damaged cache, or one of another version")

// maxCacheCount bounds the entries and lists of a damaged file.
const maxCacheCount = 4_000_000

type encoder struct{ b []byte }

func newEncoder(version string) *encoder {
	return &encoder{b: append([]byte(cacheForm), version+"\n"...)}
}

func (e *encoder) number(n int64) { e.b = binary.AppendVarint(e.b, n) }

func (e *encoder) text(s string) {
	e.number(int64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) flag(set bool) {
	n := byte(0)
	if set {
		n = 1
	}
	e.b = append(e.b, n)
}

func (e *encoder) texts(list []string) {
	e.number(int64(len(list)))
	for _, s := range list {
		e.text(s)
	}
}

func (e *encoder) entry(m *memoEntry) {
	e.number(m.stamp.size)
	e.number(m.stamp.modNS)
	e.number(int64(m.stamp.with))
	e.number(int64(len(m.sessions)))
	for i := range m.sessions {
		e.session(&m.sessions[i])
	}
	e.number(int64(len(m.skips)))
	for _, s := range m.skips {
		e.text(string(s.Reason))
		e.number(int64(s.Count))
		e.texts(s.Samples)
	}
}

// session and decoder.session must name the same fields in the same order.
func (e *encoder) session(s *Session) {
	for _, t := range []string{
		s.ID, s.ProjectPath, s.ProjectName, s.Title, s.Recap, s.Branch, s.Worktree,
		s.Parent, string(s.Relation), s.Repository, s.StoreFile, s.Ref,
	} {
		e.text(t)
	}
	e.texts(s.Prompts)
	e.number(s.TimeMS)
	e.number(s.StartedMS)
	e.flag(s.NonInteractive)
	e.flag(s.Archived)
}

func (e *encoder) finish() []byte {
	return binary.LittleEndian.AppendUint32(e.b, checksum(e.b))
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// decoder reads what an encoder wrote. After the first fault bad is set and everything is zero.
type decoder struct {
	s   string
	at  int
	bad bool
}

func newDecoder(data []byte, version string) (*decoder, error) {
	head := cacheForm + version + "\n"
	if len(data) < len(head)+4 || string(data[:len(head)]) != head {
		return nil, errCache
	}
	body := data[:len(data)-4]
	if binary.LittleEndian.Uint32(data[len(body):]) != checksum(body) {
		return nil, errCache
	}
	return &decoder{s: string(body), at: len(head)}, nil
}

func (d *decoder) number() int64 {
	var u uint64
	for shift := uint(0); shift < 64 && d.at < len(d.s); shift += 7 {
		b := d.s[d.at]
		d.at++
		u |= uint64(b&0x7f) << shift
		if b < 0x80 {
			n := int64(u >> 1)
			if u&1 != 0 {
				n = ^n
			}
			return n
		}
	}
	d.bad = true
	return 0
}

// count reads a length of a list.
func (d *decoder) count() int {
	n := d.number()
	if n < 0 || n > maxCacheCount || n > int64(len(d.s)-d.at) {
		d.bad = true
	}
	if d.bad {
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.count()
	if d.bad {
		return ""
	}
	d.at += n
	return d.s[d.at-n : d.at]
}

func (d *decoder) flag() bool {
	if d.at >= len(d.s) {
		d.bad = true
		return false
	}
	d.at++
	return d.s[d.at-1] == 1
}

func (d *decoder) texts() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = d.text()
	}
	return out
}

func (d *decoder) entry() *memoEntry {
	e := &memoEntry{stamp: stamp{size: d.number(), modNS: d.number(), with: uint64(d.number())}}
	if n := d.count(); n > 0 {
		e.sessions = make([]Session, 0, min(n, 1024))
		for range n {
			e.sessions = append(e.sessions, d.session())
			if d.bad {
				return e
			}
		}
	}
	for range d.count() {
		e.skips = append(e.skips, Skipped{Reason: Reason(strings.Clone(d.text())), Count: int(d.number()), Samples: d.texts()})
		if d.bad {
			return e
		}
	}
	return e
}

func (d *decoder) session() Session {
	var s Session
	for _, t := range []*string{
		&s.ID, &s.ProjectPath, &s.ProjectName, &s.Title, &s.Recap, &s.Branch, &s.Worktree,
		&s.Parent, (*string)(&s.Relation), &s.Repository, &s.StoreFile, &s.Ref,
	} {
		*t = d.text()
	}
	s.Prompts = d.texts()
	s.TimeMS, s.StartedMS = d.number(), d.number()
	s.NonInteractive, s.Archived = d.flag(), d.flag()
	return s
}
