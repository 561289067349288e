package catalog

import (
	"cmp"
	"fmt"
	"slices"
)

// Catalog answers questions about the sessions of all stores. It is safe for concurrent use and needs no closing.
type Catalog struct {
	// Set at construction.
	opts    Options
	readers []Reader
	scope   scope

	memo memo
}

// New returns a catalog over the readers. It reads nothing yet. An unknown agent or an unusable project in the options
// is an [Error] with its code; everything else names the option.
func New(readers []Reader, opts *Options) (*Catalog, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	c := &Catalog{opts: o, readers: slices.Clone(readers)}
	slices.SortStableFunc(c.readers, func(a, b Reader) int { return cmp.Compare(a.Agent().order(), b.Agent().order()) })
	for i := 1; i < len(c.readers); i++ {
		if c.readers[i].Agent() == c.readers[i-1].Agent() {
			return nil, fmt.Errorf("catalog readers: two for %q, want one", c.readers[i].Agent())
		}
	}
	var wanted request
	if o.Agent != "" {
		wanted.agent = &o.Agent
	}
	if o.Project != "" {
		wanted.project = &o.Project
	}
	s, err := c.narrow(wanted)
	if err != nil {
		return nil, err
	}
	c.scope = s
	return c, nil
}

// reader returns the reader of an agent.
func (c *Catalog) reader(a Agent) (Reader, bool) {
	for _, r := range c.readers {
		if r.Agent() == a {
			return r, true
		}
	}
	return nil, false
}

// env returns the surroundings.
func (c *Catalog) env() Env { return *c.opts.Env }
