package persistence

// Bounds gives the first position of the page in a session of count items, and the one behind its last.
// Stores call it, so that all of them cut the same pages.
func (q PageQuery) Bounds(count int) (start, end int) {
	end = count
	if q.Before > 0 {
		end = min(q.Before, count)
	}
	limit := q.Limit
	if limit <= 0 || limit > MaxPageItems {
		limit = MaxPageItems
	}
	return max(0, end-limit), end
}
