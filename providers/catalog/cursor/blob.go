package cursor

import (
	"context"
	"encoding/hex"
	"strconv"

	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
)

const (
	maxBlobBytes = 256 << 10
	maxRootBytes = 16 << 20
	maxDepth     = 4
)

// tree is a list of what a blob that is no message points to: other blobs, in order, and the directory of the workspace.
type tree struct {
	children  []string // ids
	workspace string   // a file URI
}

// decodeTree reads the protocol buffer of such a blob as far as it can be understood: field 1 is a SHA-256 of a blob, again
// and again, field 9 the workspace.
func decodeTree(data []byte) tree {
	var t tree
	for f := range bounded.Proto(data) {
		switch {
		case f.Number == 1 && len(f.Bytes) == 32:
			t.children = append(t.children, hex.EncodeToString(f.Bytes))
		case f.Number == 9 && t.workspace == "":
			t.workspace = string(f.Bytes)
		}
	}
	return t
}

// walker goes through the messages below a root.
type walker struct {
	ctx      context.Context //nolint:containedctx // A walker lives for one call.
	db       *database.DB
	backward bool
	visit    func(place string, message []byte) bool // false ends the walk
	seen     int
}

// maxVisits bounds the blobs that are fetched, so that a tree that contains itself ends.
const maxVisits = 200_000

// walk visits the messages of a tree. It reports whether the walk may go on.
func (w *walker) walk(t tree, place string, depth int) (bool, error) {
	for i := range t.children {
		if w.backward {
			i = len(t.children) - 1 - i
		}
		if w.seen++; w.seen > maxVisits || depth > maxDepth {
			return false, nil
		}
		data, err := blob(w.ctx, w.db, t.children[i], maxBlobBytes)
		if err != nil {
			return false, err
		}
		at := place + strconv.Itoa(i)
		more := true
		switch {
		case len(data) == 0:
		case data[0] == '{':
			more = w.visit(at, data)
		default:
			more, err = w.walk(decodeTree(data), at+".", depth+1)
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// blob returns the start of a blob, empty when there is none.
func blob(ctx context.Context, db *database.DB, id string, limit int) ([]byte, error) {
	var data []byte
	err := db.Each(ctx, "SELECT CAST(substr(data, 1, ?) AS BLOB) FROM blobs WHERE id = ?", []any{limit, id}, []any{&data}, func() error { return nil })
	return data, err
}
