package approval

import (
	"cmp"
	"slices"

	"agentd/presets"
)

// grantSet holds the grants that hold now, indexed by what they cover.
type grantSet struct {
	byID   map[presets.GrantID]presets.Grant
	byCall map[string][]presets.GrantID // by fingerprint
}

func newGrantSet(grants []presets.Grant) *grantSet {
	set := &grantSet{byID: make(map[presets.GrantID]presets.Grant, len(grants)), byCall: map[string][]presets.GrantID{}}
	for _, grant := range grants {
		set.add(grant)
	}
	return set
}

func (g *grantSet) add(grant presets.Grant) {
	if _, known := g.byID[grant.ID]; known {
		return
	}
	g.byID[grant.ID] = grant
	g.byCall[grant.Fingerprint] = append(g.byCall[grant.Fingerprint], grant.ID)
}

func (g *grantSet) remove(id presets.GrantID) {
	grant, known := g.byID[id]
	if !known {
		return
	}
	delete(g.byID, id)
	left := slices.DeleteFunc(g.byCall[grant.Fingerprint], func(other presets.GrantID) bool { return other == id })
	if len(left) == 0 {
		delete(g.byCall, grant.Fingerprint)
		return
	}
	g.byCall[grant.Fingerprint] = left
}

// find returns the first grant that covers the call.
func (g *grantSet) find(query presets.Query, now int64) (presets.Grant, bool) {
	for _, id := range g.byCall[query.Fingerprint] {
		if grant := g.byID[id]; grant.Covers(query, now) {
			return grant, true
		}
	}
	return presets.Grant{}, false
}

// live returns the grants that have not expired, the oldest first.
func (g *grantSet) live(now int64) []presets.Grant {
	out := make([]presets.Grant, 0, len(g.byID))
	for _, grant := range g.byID {
		if grant.Live(now) {
			out = append(out, grant)
		}
	}
	slices.SortFunc(out, func(a, b presets.Grant) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// expire removes and returns those that hold no more.
func (g *grantSet) expire(now int64) []presets.Grant {
	var over []presets.Grant
	for id, grant := range g.byID {
		if !grant.Live(now) {
			g.remove(id)
			over = append(over, grant)
		}
	}
	return over
}
