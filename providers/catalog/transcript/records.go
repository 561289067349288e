package transcript

import (
	"context"
	"iter"
	"slices"

	"agentd/providers/catalog"
)

// Records hands out the records that read returns, oldest first, in the order that was asked for, for
// [catalog.ContentReader]. It is for transcripts that are read at once. Records without text are left out. An error of read
// is the last value, behind what was read before it.
func Records(ctx context.Context, req catalog.ContentRequest, read func() ([]catalog.Record, error)) iter.Seq2[catalog.Record, error] {
	return func(yield func(catalog.Record, error) bool) {
		all, err := read()
		if req.NewestFirst {
			slices.Reverse(all)
		}
		for _, rec := range all {
			if rec.Text == "" {
				continue
			}
			rec.Cut = rec.Cut || len(rec.Text) >= catalog.MaxRecordBytes-4
			if ctx.Err() != nil {
				err = ctx.Err()
				break
			}
			if !yield(rec, nil) {
				return
			}
		}
		if err != nil {
			yield(catalog.Record{}, err)
		}
	}
}
