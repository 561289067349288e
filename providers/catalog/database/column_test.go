package database_test

import (
	"math"
	"testing"

	"agentd/providers/catalog/database"
)

func TestColumns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		src  any
		text database.Text
		n    database.Int
	}{
		{"null", nil, "", 0},
		{"text", "12", "12", 12},
		{"bytes", []byte("a\xff"), "a\uFFFD", 0},
		{"number", int64(7), "7", 7},
		{"fraction", 1.5, "1.5", 1},
		{"not a number", math.NaN(), "NaN", 0},
		{"too large for a whole number", "1e300", "1e300", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var text database.Text
			var n database.Int
			if err := text.Scan(tt.src); err != nil {
				t.Fatal(err)
			}
			if err := n.Scan(tt.src); err != nil {
				t.Fatal(err)
			}
			if n != tt.n || text != tt.text {
				t.Errorf("Scan(%v) = %q, %d, want %q, %d", tt.src, text, n, tt.text, tt.n)
			}
		})
	}
}

// FuzzView feeds SQLite whatever a file may hold.
func FuzzView(f *testing.F) {
	f.Add([]byte("SQLite format 3\x00 and something"), []byte{})
	f.Fuzz(func(t *testing.T, data, wal []byte) {
		path := t.TempDir() + "/x.db"
		put(t, path, append([]byte("SQLite format 3\x00"), data...))
		if len(wal) > 0 {
			put(t, path+"-wal", wal)
		}
		_, _ = titles(t.Context(), path) // An error is an answer.
	})
}
