package catalog

import (
	"cmp"
	"maps"
	"slices"
)

// maxSamples is how many places are named for each reason.
const maxSamples = 5

// Report says what was found in one agent's store.
type Report struct {
	// Agent names the agent.
	Agent Agent `json:"agent"`
	// Roots are the places that were looked at.
	Roots []RootReport `json:"roots"`
	// Seen is how many files were looked at.
	Seen int `json:"seen"`
	// Listed is how many sessions were found, before any filter.
	Listed int `json:"listed"`
	// NonInteractive and Archived are how many of these a listing leaves out unless they are asked for. One session can be both.
	NonInteractive int `json:"non_interactive"`
	Archived       int `json:"archived"`
	// Skipped says what was seen and is not listed, by reason.
	Skipped []Skipped `json:"skipped"`
	// Error is why the whole store could not be read, or empty.
	Error string `json:"error,omitzero"`
}

// RootReport is one place of a store.
type RootReport struct {
	// Path is the place.
	Path string `json:"path"`
	// Var is the variable that configured it, or empty.
	Var string `json:"var,omitzero"`
	// Exists is whether something is there.
	Exists bool `json:"exists"`
	// Missing is whether Var names a place that does not exist, which is rather a mistake.
	Missing bool `json:"missing,omitzero"`
}

// Skipped counts what was left out for one reason.
type Skipped struct {
	// Reason is why.
	Reason Reason `json:"reason"`
	// Count is how many files or sessions.
	Count int `json:"count"`
	// Samples are a few of the places.
	Samples []string `json:"samples"`
}

// skipCounter counts by reason.
type skipCounter map[Reason]*Skipped

func (c *skipCounter) add(where string, reason Reason) {
	c.merge(Skipped{Reason: reason, Count: 1, Samples: []string{where}})
}

func (c *skipCounter) merge(s Skipped) {
	if *c == nil {
		*c = skipCounter{}
	}
	have := (*c)[s.Reason]
	if have == nil {
		have = &Skipped{Reason: s.Reason}
		(*c)[s.Reason] = have
	}
	have.Count += s.Count
	have.Samples = append(have.Samples, s.Samples[:min(len(s.Samples), maxSamples-len(have.Samples))]...)
}

// list returns the counts in a stable order.
func (c skipCounter) list() []Skipped {
	out := make([]Skipped, 0, len(c))
	for s := range maps.Values(c) {
		out = append(out, Skipped{Reason: s.Reason, Count: s.Count, Samples: slices.Clone(s.Samples)})
	}
	slices.SortFunc(out, func(a, b Skipped) int { return cmp.Compare(a.Reason, b.Reason) })
	return out
}
