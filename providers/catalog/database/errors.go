package database

import (
	"fmt"

	"agentd/providers/catalog/bounded"
)

var (
	// ErrNotDatabase means that the file does not hold a SQLite database, or a damaged one. It wraps
	// [bounded.ErrCorrupt].
	ErrNotDatabase = fmt.Errorf("not a readable SQLite database: %w", bounded.ErrCorrupt)
	// ErrEmpty means that the file is empty: a database in which nothing was ever stored. It wraps
	// [bounded.ErrEmpty].
	ErrEmpty = fmt.Errorf("no database yet: %w", bounded.ErrEmpty)
)
