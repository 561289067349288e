package database

import "errors"

var (
	// ErrNotDatabase means that the file does not hold a SQLite database, or a damaged one.
	ErrNotDatabase = errors.New("not a readable SQLite database")
	// ErrEmpty means that the file is empty: a database in which nothing was ever stored.
	ErrEmpty = errors.New("empty database file")
)
