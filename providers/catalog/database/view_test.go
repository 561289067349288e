package database_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
)

// write makes a database with the real driver and leaves it open until the test ends.
func write(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

func titles(ctx context.Context, path string) (got []string, err error) {
	err = database.View(ctx, path, func(ctx context.Context, db *database.DB) error {
		got = nil
		rows, err := db.Query(ctx, "SELECT title FROM session ORDER BY id")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var title database.Text
			if err := rows.Scan(&title); err != nil {
				return err
			}
			got = append(got, string(title))
		}
		return rows.Err()
	})
	return got, err
}

// snapshot returns names, sizes and content of a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = info.ModTime().String() + string(data)
	}
	return out
}

func TestView(t *testing.T) {
	t.Parallel()
	const table = "CREATE TABLE session (id INTEGER PRIMARY KEY, title TEXT)"
	tests := []struct {
		name  string
		setup func(t *testing.T, path string)
	}{
		{"rollback mode", func(t *testing.T, path string) {
			t.Helper()
			write(t, path, table, "INSERT INTO session VALUES (1,'one'),(2,NULL)")
		}},
		{"rows only in the log", func(t *testing.T, path string) {
			t.Helper()
			write(t, path, "PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0", table, "INSERT INTO session VALUES (1,'one'),(2,NULL)")
		}},
		{"log without shared memory file", func(t *testing.T, path string) {
			t.Helper()
			from := filepath.Join(t.TempDir(), "x.db")
			write(t, from, "PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0", table, "INSERT INTO session VALUES (1,'one'),(2,NULL)")
			for _, end := range []string{"", "-wal"} {
				data, err := os.ReadFile(from + end)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path+end, data, 0o400); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{"WAL mode, log folded and gone", func(t *testing.T, path string) {
			t.Helper()
			_ = write(t, path, "PRAGMA journal_mode=WAL", table, "INSERT INTO session VALUES (1,'one'),(2,NULL)").Close()
		}},
		{"exclusive lock held", func(t *testing.T, path string) {
			t.Helper()
			write(t, path, table, "INSERT INTO session VALUES (1,'one'),(2,NULL)", "BEGIN EXCLUSIVE")
		}},
		{"writer in mid-transaction", func(t *testing.T, path string) {
			t.Helper()
			write(t, path, "PRAGMA journal_mode=WAL", table, "INSERT INTO session VALUES (1,'one'),(2,NULL)", "BEGIN IMMEDIATE", "INSERT INTO session VALUES (3,'not yet')")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "store with space?#.db")
			tt.setup(t, path)
			before := snapshot(t, dir)
			got, err := titles(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"one", ""}, got); diff != "" {
				t.Errorf("titles (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
				t.Errorf("reading changed the folder (-before +after):\n%s", diff)
			}
		})
	}
}

func TestViewRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		content []byte
		want    error
	}{
		{"empty", []byte{}, database.ErrEmpty},
		{"text", []byte("not a database at all, but long enough"), database.ErrNotDatabase},
		{"short", []byte("SQL"), database.ErrNotDatabase},
		{"header and garbage", append([]byte("SQLite format 3\x00"), make([]byte, 20000)...), database.ErrNotDatabase},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.db")
			if err := os.WriteFile(path, tt.content, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := titles(t.Context(), path); !errors.Is(err, tt.want) {
				t.Errorf("View = %v, want %v", err, tt.want)
			}
		})
	}
	t.Run("directory", func(t *testing.T) {
		t.Parallel()
		if _, err := titles(t.Context(), t.TempDir()); !errors.Is(err, bounded.ErrNotRegular) {
			t.Errorf("View = %v, want %v", err, bounded.ErrNotRegular)
		}
	})
}

func TestViewRefusesWrites(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	write(t, path, "CREATE TABLE session (id INTEGER PRIMARY KEY, title TEXT)")
	err := database.View(t.Context(), path, func(ctx context.Context, db *database.DB) error {
		rows, err := db.Query(ctx, "INSERT INTO session VALUES (1,'x') RETURNING id")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() { // Running the statement is the point.
		}
		return rows.Err()
	})
	if err == nil {
		t.Error("an INSERT succeeded")
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	got := database.Select("session", map[string]bool{"id": true}, []string{"id", "title"}, "WHERE 1")
	if want := `SELECT substr("id", 1, 262144), NULL FROM "session" WHERE 1`; got != want {
		t.Errorf("Select() = %q, want %q", got, want)
	}
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSelectOfAHugeValue(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	write(t, path, "CREATE TABLE session (id INTEGER, title TEXT)", "INSERT INTO session VALUES (7, printf('%.*c', 3000000, 'x'))", "INSERT INTO session VALUES (8, NULL)")
	var ids []database.Int
	var sizes []int
	err := database.View(t.Context(), path, func(ctx context.Context, db *database.DB) error {
		ids, sizes = nil, nil
		have, err := db.Columns(ctx, "session")
		if err != nil {
			return err
		}
		var id database.Int
		var title, other database.Text
		return db.Each(ctx, database.Select("session", have, []string{"id", "title", "other"}, "ORDER BY id"), nil, []any{&id, &title, &other}, func() error {
			ids, sizes = append(ids, id), append(sizes, len(title)+len(other))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]database.Int{7, 8}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{database.MaxValueChars, 0}, sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
}
