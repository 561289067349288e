package catalog

import (
	"slices"
	"strings"

	"agentd/providers/catalog/bounded"
)

// Discovery is what [Reader.Discover] works with. It is used by one goroutine.
type Discovery struct {
	// Env is the surroundings.
	Env Env
	// Exact, when it is not empty, is the only session id that is wanted. A reader that can tell from a path
	// which files cannot hold it leaves them out; one that cannot lists all. Files that are needed to understand others
	// are listed either way.
	Exact string
	// NonInteractive tells whether sessions that no person held are wanted. When it is false, a reader leaves out files
	// that by their place can hold nothing else, such as those of sub-agents: there can be very many.
	NonInteractive bool

	units []Unit
	skips skipCounter
	// found, when it is there, gets the units in pieces while the others are still looked for; told is how many it got.
	found func(from int, units []Unit)
	told  int
}

// unitPiece is how many units are examined by one goroutine at a time.
const unitPiece = 128

// Add lists a file. Files are parsed in any order; [Assembly.Parts] has the order of listing.
func (d *Discovery) Add(u Unit) {
	if d.units = append(d.units, u); d.found != nil && len(d.units) == d.told+unitPiece {
		d.tell()
	}
}

// tell hands on the units that were added since the last time.
func (d *Discovery) tell() {
	for d.told < len(d.units) {
		from := d.told
		d.told = min(from+unitPiece, len(d.units))
		d.found(from, d.units[from:d.told:d.told])
	}
}

// Skip reports something that was seen and is not listed. Passing it to [bounded.Walk] as fault is d.Fault.
func (d *Discovery) Skip(path string, reason Reason) { d.skips.add(path, reason) }

// Fault reports a folder that cannot be read; it has the form that [bounded.Walk] wants.
func (d *Discovery) Fault(path string, err error) { d.skips.add(path, ReasonOf(err)) }

// Parsing is what [Reader.Parse] works with. It is used by one goroutine, for one unit.
type Parsing struct {
	// Unit is the file to read.
	Unit Unit

	scratch  *bounded.Scratch
	limitMS  int64
	exact    string
	volatile bool
	uses     []string
	sessions []Session
	skips    skipCounter
}

// Open opens a file with buffers that are used again for the next one. Close it before Parse returns.
func (p *Parsing) Open(path string) (*bounded.File, error) { return p.scratch.Open(path) }

// Only returns the one session id that is wanted, or nothing when all are. A reader that then tells less of the others calls it; what it tells is
// not remembered.
func (p *Parsing) Only() string {
	p.volatile = p.volatile || p.exact != ""
	return p.exact
}

// maxUses is how many files a unit can name in [Parsing.Uses]. With more its result is not remembered.
const maxUses = 64

// Uses tells of a file or a folder, besides those of the unit, on which what Parse tells depends, and which nobody could know of before the unit
// was read. It is looked at as those of Unit.With are. It need not exist.
func (p *Parsing) Uses(path string) {
	if len(p.uses) == maxUses || strings.IndexByte(path, 0) >= 0 {
		p.volatile = true
		return
	}
	p.uses = append(p.uses, path)
}

// Emit tells a session, or a fragment of one that [Assembler.Assemble] joins. StoreFile is filled in when it is
// empty.
func (p *Parsing) Emit(s Session) {
	if s.StoreFile == "" {
		s.StoreFile = p.Unit.Path
	}
	p.sessions = append(p.sessions, s.bounded())
}

// Skip reports the unit, or one record of it, as seen and not listed. where may be empty for the unit itself.
func (p *Parsing) Skip(where string, reason Reason) {
	if where == "" {
		where = p.Unit.Path
	}
	p.skips.add(where, reason)
}

// Believe returns the time when it can be true, and 0 when it lies before the year 2000 or more than five minutes in the
// future. Pass every time through it before you compare it with others.
func (p *Parsing) Believe(ms int64) int64 {
	if ms < bounded.Earliest {
		return 0
	}
	if ms > p.limitMS {
		p.volatile = true // It may be true later, so the result is not remembered.
		return 0
	}
	return ms
}

// Newest is max of the believed times.
func (p *Parsing) Newest(times ...int64) int64 {
	var newest int64
	for _, ms := range times {
		newest = max(newest, p.Believe(ms))
	}
	return newest
}

// Assembly is what [Assembler.Assemble] works with.
type Assembly struct {
	// Exact is as in [Discovery].
	Exact string
	// Parts are the units with what was found in them, in the order of discovery. A unit that failed has no sessions.
	Parts []Part

	skips skipCounter
}

// Part is one unit and what [Reader.Parse] emitted for it.
type Part struct {
	Unit     Unit
	Sessions []Session
}

// Skip reports a session that is not listed.
func (a *Assembly) Skip(where string, reason Reason) { a.skips.add(where, reason) }

// All returns the sessions of all parts of a kind, in order.
func (a *Assembly) All(kind string) []Session {
	var out []Session
	for _, p := range a.Parts {
		if p.Unit.Kind == kind {
			out = append(out, p.Sessions...)
		}
	}
	return out
}

// bounded cuts what a reader gave to what is kept.
func (s Session) bounded() Session {
	s.Title = bounded.Squeeze(s.Title, MaxTextBytes)
	s.Recap = bounded.Squeeze(s.Recap, MaxTextBytes)
	s.Ref = bounded.Clip(s.Ref, MaxRefBytes)
	kept := make([]string, 0, min(len(s.Prompts), MaxPrompts))
	for _, prompt := range s.Prompts {
		if prompt = bounded.Squeeze(prompt, MaxTextBytes); prompt != "" && len(kept) < MaxPrompts {
			kept = append(kept, prompt)
		}
	}
	s.Prompts = slices.Clip(kept)
	return s
}
