package persistence

import (
	"cmp"
	"slices"

	"agentd/messages"
)

// Sort puts the listing into its documented order. Stores call it.
func (l *Listing) Sort() {
	slices.SortFunc(l.Sessions, func(a, b messages.Head) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(l.Bad, func(a, b BadSession) int { return cmp.Compare(a.ID, b.ID) })
}
