package catalog

// place is where a unit stands on a shelf. The zero value is none.
type place struct {
	number  uint32 // of the unit, from 1
	verdict uint32 // where its verdict begins
}

// follower finds units on a shelf. As long as they come in the order of the shelf, which is nearly always, finding one is comparing it with the next.
type follower struct {
	shelf *shelf // may be nil
	next  unitCursor
	// byName is made when the order is another one.
	byName map[unitName]place
}

type unitName struct{ kind, path string }

func newFollower(s *shelf) follower {
	f := follower{shelf: s}
	if s != nil {
		f.next = s.cursor()
	}
	return f
}

func (f *follower) find(u Unit) place {
	if f.shelf == nil {
		return place{}
	}
	if f.byName == nil {
		if f.next.advance() && f.next.kind == u.Kind && string(f.next.path) == u.Path {
			return f.next.place
		}
		f.byName = make(map[unitName]place, f.shelf.count)
		for c := f.shelf.cursor(); c.advance(); {
			f.byName[unitName{c.kind, string(c.path)}] = c.place
		}
	}
	return f.byName[unitName{u.Kind, u.Path}]
}

// unitCursor runs over the units of a shelf.
type unitCursor struct {
	in   unpacker
	left int
	path []byte
	kind string
	place
}

func (s *shelf) cursor() unitCursor {
	return unitCursor{in: unpacker{s: s.units, at: s.first}, left: s.count}
}

func (c *unitCursor) advance() bool {
	if c.left == 0 {
		return false
	}
	c.left--
	c.number++
	shared := c.in.number()
	if shared > uint64(len(c.path)) {
		c.in.fail()
		shared = 0
	}
	c.path = append(c.path[:shared], c.in.text()...)
	c.kind = c.in.text()
	c.verdict = uint32(c.in.at)
	c.in.verdict()
	return !c.in.bad
}

// verdict returns what became of the unit at a place.
func (s *shelf) verdict(at place) verdict {
	u := unpacker{s: s.units, at: int(at.verdict)}
	return u.verdict()
}
