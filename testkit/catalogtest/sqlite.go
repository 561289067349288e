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

// PutSQLite writes a database below the home, with its folders and with a time, in Unix milliseconds, or the present for 0.
// It leaves no log beside it.
func PutSQLite(tb testing.TB, env catalog.Env, rel string, ms int64, statements ...string) {
	tb.Helper()
	path := filepath.Join(env.Home, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String())
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
		if ms > 0 {
			if err := os.Chtimes(path, time.Time{}, time.UnixMilli(ms)); err != nil {
				tb.Error(err)
			}
		}
	}()
	db.SetMaxOpenConns(1)
	// One transaction and no waiting for the disk: tests write many databases.
	for _, s := range append([]string{"PRAGMA synchronous=OFF", "PRAGMA journal_mode=MEMORY"}, statements...) {
		if _, err := db.ExecContext(tb.Context(), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
}
