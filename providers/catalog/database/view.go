package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
	"modernc.org/sqlite/vfs"
)

const (
	// MaxDuration bounds one reading, so that a hostile or enormous database costs a limited time.
	MaxDuration = 10 * time.Second
	attempts    = 3
)

// View opens the database at path and calls read with it. It calls read again, at most three times in all, when the
// owner rewrote the files meanwhile, so read starts from nothing each time. The database is valid only within the
// call. View blocks for at most about [MaxDuration] for each attempt.
//
// The error wraps that of read, [ErrNotDatabase] for a damaged file, [ErrEmpty], the errors of package bounded, or the
// system's own.
func View(ctx context.Context, path string, read func(ctx context.Context, db *DB) error) error {
	for n := 1; ; n++ {
		before, err := look(path)
		if err != nil {
			return err
		}
		err = once(ctx, path, before.wal != "", read)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		after, lookErr := look(path)
		if n == attempts || (lookErr == nil && before == after) {
			if err != nil {
				return fmt.Errorf("reading database %q: %w", path, classify(err))
			}
			return nil
		}
	}
}

func once(ctx context.Context, path string, useWAL bool, read func(ctx context.Context, db *DB) error) (err error) {
	name, layer, err := vfs.New(&overlay{path: path, useWAL: useWAL})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, layer.Close()) }()
	pool, err := sql.Open("sqlite", "file:"+mainName+"?mode=ro&vfs="+name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, MaxDuration)
	defer cancel()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, p := range pragmas() {
		if _, err := conn.ExecContext(ctx, "PRAGMA "+p); err != nil {
			return err
		}
	}
	return read(ctx, &DB{conn: conn})
}

// pragmas returns the settings of a connection, in order.
func pragmas() []string {
	return []string{
		// First of all, because the next ones read the file: it keeps the index of the log in this process's memory;
		// the file layer has no shared memory and no locks.
		"locking_mode=EXCLUSIVE",
		"temp_store=MEMORY", "cache_size=-2048", "mmap_size=0", "query_only=1", "trusted_schema=0",
	}
}

// classify marks the errors of a damaged file.
func classify(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FORMAT:
			return errors.Join(ErrNotDatabase, err)
		}
	}
	return err
}
