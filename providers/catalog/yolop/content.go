package yolop

import (
	"context"
	"errors"
	"io/fs"
	"iter"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// Records implements [catalog.ContentReader]. What the model thought is left out.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	decode := func(line bounded.Line) []catalog.Record {
		e := decodeEvent(line.Data)
		if !e.of(req.Session.ID) {
			return nil
		}
		return e.records()
	}
	return func(yield func(catalog.Record, error) bool) {
		path := logOf(req.Session.StoreFile)
		if f, err := bounded.Open(path); err == nil {
			_ = f.Close()
		} else if errors.Is(err, fs.ErrNotExist) {
			path = oldLogOf(req.Session.StoreFile)
		}
		catalog.LineRecords(ctx, req, path, decode)(yield)
	}
}
