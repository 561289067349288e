package process

import "slices"

// row is one line of the system's process table.
type row struct {
	pid, ppid, pgrp int
	session         int   // zero where the system does not tell
	start           int64 // when it started, in a unit of the system that only has to compare
	dead            bool  // a zombie: it holds its number, and nothing else
}

// census finds the members of one tree in a process table. It remembers those it has seen, because a process whose parent
// has died can no longer be found by descent.
type census struct {
	root  int
	birth int64         // start of root; nothing older belongs to the tree
	known map[int]int64 // pid to start
	// marked reports whether a process carries the tree's marker; it may be slow, and is asked last.
	marked func(pid int) bool
}

func newCensus(root int, birth int64, marked func(pid int) bool) *census {
	return &census{root: root, birth: birth, known: map[int]int64{root: birth}, marked: marked}
}

// members returns the living members in the order of the table, and remembers exactly them.
func (c *census) members(table []row) []row {
	in := make(map[int]bool, len(c.known))
	for _, r := range table {
		start, seen := c.known[r.pid]
		if seen && start == r.start || c.related(r) {
			in[r.pid] = true
		}
	}
	// The table is in no order of descent, so the children of new members take another round.
	for grown := true; grown; {
		grown = false
		for _, r := range table {
			if !in[r.pid] && in[r.ppid] && r.start >= c.birth {
				in[r.pid], grown = true, true
			}
		}
	}
	living := slices.DeleteFunc(slices.Clone(table), func(r row) bool { return r.dead || !in[r.pid] })
	clear(c.known)
	for _, r := range living {
		c.known[r.pid] = r.start
	}
	return living
}

// related reports whether the row alone shows that its process belongs to the tree. The age is compared first: it
// protects a stranger that got a number again, and spares most of the environment reads.
func (c *census) related(r row) bool {
	if r.start < c.birth || r.dead {
		return false
	}
	return r.pgrp == c.root || r.session == c.root || c.marked(r.pid)
}
