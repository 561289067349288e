package catalogtest

import (
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver

	"agentd/providers/catalog"
)

// LogVar is a variable of the surroundings that makes [PutSQLite] leave a database as a program does that still runs: all that was
// written stands in the write-ahead log beside it, and nothing in the database itself. The suite sets it; no reader knows
// it.
const LogVar = "CATALOGTEST_LOG"

// PutSQLite writes a database below the home, with its folders and with a time, in Unix milliseconds, or the present for 0.
// It leaves no log beside it, unless [LogVar] is set.
func PutSQLite(tb testing.TB, env catalog.Env, rel string, ms int64, statements ...string) {
	tb.Helper()
	path := filepath.Join(env.Home, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if env.Var(LogVar) != "" {
		putLogged(tb, path, statements)
	} else {
		// One transaction and no waiting for the disk: tests write many databases.
		writeSQLite(tb, path, []string{"PRAGMA synchronous=OFF", "PRAGMA journal_mode=MEMORY"}, statements, nil)
	}
	if ms == 0 {
		return
	}
	for _, end := range []string{"", "-wal"} {
		if err := os.Chtimes(path+end, time.Time{}, time.UnixMilli(ms)); err != nil && !os.IsNotExist(err) {
			tb.Error(err)
		}
	}
}

// putLogged writes a database elsewhere, and takes its files while it is open.
func putLogged(tb testing.TB, path string, statements []string) {
	tb.Helper()
	from := filepath.Join(tb.TempDir(), "a.db")
	writeSQLite(tb, from, []string{"PRAGMA synchronous=OFF", "PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0"}, statements, func() {
		for _, end := range []string{"", "-wal"} {
			data, err := os.ReadFile(from + end)
			if err == nil {
				err = os.WriteFile(path+end, data, 0o600)
			}
			if err != nil {
				tb.Fatal(err)
			}
		}
	})
}

// writeSQLite writes a database, and calls open before it closes it.
func writeSQLite(tb testing.TB, path string, settings, statements []string, open func()) {
	tb.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String())
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	}()
	db.SetMaxOpenConns(1)
	for _, s := range append(settings, statements...) {
		if _, err := db.ExecContext(tb.Context(), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
	if open != nil {
		open()
	}
}
