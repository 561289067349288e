package database

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// DB is a database during a [View]. Statements that change something fail. It is not safe for concurrent use: close
// the rows of one query before the next.
type DB struct {
	conn *sql.Conn
}

// Query runs a query. Close the rows. Scan columns that may hold NULL or another type than expected into
// [Text] and [Int], which take everything.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return d.conn.QueryContext(ctx, query, args...)
}

// Each runs a query and calls row after each row was scanned into dest, which are pointers as for
// [database/sql.Rows.Scan]. It ends with the first error.
func (d *DB) Each(ctx context.Context, query string, args, dest []any, row func() error) error {
	rows, err := d.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if err := row(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// HasTable reports whether a table or view of that name exists.
func (d *DB) HasTable(ctx context.Context, table string) (bool, error) {
	var n int
	err := d.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type IN ('table','view') AND name = ?", table).Scan(&n)
	return n > 0, err
}

// Columns returns the names of a table's columns in lower case; none when there is no such table.
func (d *DB) Columns(ctx context.Context, table string) (map[string]bool, error) {
	rows, err := d.conn.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out[strings.ToLower(name)] = true
	}
	return out, rows.Err()
}

// MaxValueChars bounds what [Select] asks for of one value, so that a row cannot take the memory of the program.
const MaxValueChars = 256 << 10

// Select returns a query for those of the wanted columns that the table has, in the order wanted, with NULL in the place
// of each that it has not, so that one scan serves all versions of a schema. Names are quoted. have comes from
// [DB.Columns]. Each value is cut to its first [MaxValueChars] characters. tail is appended as it stands: WHERE, ORDER BY,
// LIMIT; it must not hold text from outside.
func Select(table string, have map[string]bool, want []string, tail string) string {
	var b strings.Builder
	b.WriteString("SELECT ")
	for i, c := range want {
		if i > 0 {
			b.WriteString(", ")
		}
		if have[strings.ToLower(c)] {
			fmt.Fprintf(&b, "substr(%s, 1, %d)", quote(c), MaxValueChars)
		} else {
			b.WriteString("NULL")
		}
	}
	fmt.Fprintf(&b, " FROM %s %s", quote(table), tail)
	return b.String()
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
