package database_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"agentd/providers/catalog/database"
)

func TestAskable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	_ = write(
		t, path,
		"CREATE TABLE small (id INTEGER, session TEXT)", "INSERT INTO small VALUES (1, 'a')",
		"CREATE TABLE large (id INTEGER, session TEXT)", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 3000) INSERT INTO large SELECT i, 'a' FROM n",
		"CREATE TABLE found (id INTEGER, session TEXT)", "INSERT INTO found SELECT * FROM large", "CREATE INDEX found_by ON found (session, id)",
	).Close()
	for _, tt := range []struct {
		table, column string
		want          bool
	}{
		{"small", "session", true},
		{"large", "session", false},
		{"found", "session", true},
		{"found", "other", false},
		{"absent", "session", false},
	} {
		err := database.View(t.Context(), path, func(ctx context.Context, db *database.DB) error {
			got, err := db.Askable(ctx, tt.table, tt.column)
			if got != tt.want {
				t.Errorf("Askable(%q, %q) = %v, want %v", tt.table, tt.column, got, tt.want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	_ = write(t, path, "CREATE TABLE n (i INTEGER)", "INSERT INTO n VALUES (1), (2), (3), (4), (5)").Close()
	for _, descending := range []bool{false, true} {
		read := func(ctx context.Context, db *database.DB, at database.Int) (page []database.Int, next database.Int, more bool, err error) {
			behind := "i > ?"
			if descending {
				behind = "i < ?"
				if at == 0 {
					at = 100
				}
			}
			var i database.Int
			err = db.Each(ctx, "SELECT i FROM n WHERE "+behind+database.OrderBy(descending, "i")+" LIMIT 2", []any{int64(at)}, []any{&i}, func() error {
				page = append(page, i)
				next = i
				return nil
			})
			return page, next, len(page) == 2, err
		}
		var got []database.Int
		for i, err := range database.Pages(t.Context(), path, read) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, i)
		}
		want := []database.Int{1, 2, 3, 4, 5}
		if descending {
			slices.Reverse(want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("Pages, descending %v = %v, want %v", descending, got, want)
		}
	}
	for _, err := range database.Pages(t.Context(), path+".gone", func(context.Context, *database.DB, int) ([]int, int, bool, error) {
		return nil, 0, true, fmt.Errorf("not reached")
	}) {
		if err == nil {
			t.Error("Pages of a file that is not there gives no error")
		}
	}
}
