package database

import (
	"context"
	"iter"
)

// smallTable is how many rows may be looked through for each question when no index helps.
const smallTable = 2000

// Askable reports whether the rows of a table with some value in a column can be asked for again and again: there is such a
// column, and an index has it or the table is small.
func (d *DB) Askable(ctx context.Context, table, column string) (bool, error) {
	have, err := d.Columns(ctx, table)
	if err != nil || !have[column] {
		return false, err
	}
	var indexes, rows Int
	nothing := func() error { return nil }
	err = d.Each(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND instr(sql, ?) > 0", []any{table, column}, []any{&indexes}, nothing)
	if err != nil || indexes > 0 {
		return indexes > 0, err
	}
	err = d.Each(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+quote(table)+" LIMIT ?)", []any{smallTable + 1}, []any{&rows}, nothing)
	return rows <= smallTable, err
}

// OrderBy returns the part of a query that orders by columns, all of them in the same direction. Names are quoted.
func OrderBy(descending bool, columns ...string) string {
	out := " ORDER BY "
	for i, c := range columns {
		if i > 0 {
			out += ", "
		}
		out += quote(c)
		if descending {
			out += " DESC"
		}
	}
	return out
}

// Pages reads a long list a page at a time, each in a [View] of its own, so that the database is not held while what was
// read is used. read returns a page and the place where the next one begins; it starts with the zero place, and it
// may be called again for the same one. An error is the last value.
func Pages[Place, Item any](ctx context.Context, path string, read func(ctx context.Context, db *DB, at Place) (page []Item, next Place, more bool, err error)) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var at Place
		for more := true; more; {
			var page []Item
			var next Place
			err := View(ctx, path, func(ctx context.Context, db *DB) (err error) {
				page, next, more, err = read(ctx, db, at)
				return err
			})
			if err != nil {
				var none Item
				yield(none, err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}
			at = next
		}
	}
}
