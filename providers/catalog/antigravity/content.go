package antigravity

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
)

const (
	// pageSteps and pageBytes bound what is read of a database at once.
	pageSteps = 100
	pageBytes = 4 << 20
)

// Records implements [catalog.ContentReader]. The log says more plainly what was said, so it is read where there is one. What
// the model thought is left out.
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	path := req.Session.StoreFile
	if log := findLog(path); log != "" {
		return catalog.LineRecords(ctx, req, log, func(line bounded.Line) []catalog.Record {
			s := decodeStep(line.Data)
			return s.records()
		})
	}
	if filepath.Base(path) == indexName {
		return func(func(catalog.Record, error) bool) {} // Neither its database nor its log is there.
	}
	return database.Pages(ctx, path, func(ctx context.Context, db *database.DB, at place) ([]catalog.Record, place, bool, error) {
		at.descending = req.NewestFirst
		return page(ctx, db, req, at)
	})
}

// findLog returns the longest log of a conversation that is not empty, or nothing.
func findLog(storeFile string) string {
	dir := filepath.Dir(storeFile)
	if filepath.Ext(storeFile) == ".db" {
		// The folder of logs bears the id as the program wrote it there, which need not be as in the index.
		id := strings.TrimSuffix(filepath.Base(storeFile), ".db")
		dir = filepath.Join(filepath.Dir(dir), "brain", id, ".system_generated", "logs")
	}
	for _, name := range []string{fullLogName, logName} {
		f, err := bounded.Open(filepath.Join(dir, name))
		if err != nil {
			continue // It need not be there.
		}
		size := f.Size
		_ = f.Close() // It was only asked for its size.
		if size > 0 {
			return f.Path
		}
	}
	return ""
}

// page reads the steps behind a place.
func page(ctx context.Context, db *database.DB, req catalog.ContentRequest, at place) (out []catalog.Record, next place, more bool, err error) {
	have, err := db.Columns(ctx, "steps")
	if err != nil || !have["idx"] || !have["step_payload"] {
		return nil, at, false, err
	}
	count, size := 0, 0
	err = at.each(ctx, db, pageSteps, func(s *stored) {
		if size > pageBytes {
			return // The next page begins with this one.
		}
		count++
		next = place{index: int64(s.index), set: true, descending: at.descending}
		if !bounded.ContainsAnyFold(s.payload, req.Words) {
			return
		}
		all := slices.DeleteFunc(s.records(), func(rec catalog.Record) bool { return rec.Text == "" })
		for i := range all {
			all[i].Cite = "step " + strconv.FormatUint(s.index, 10)
			if i > 0 {
				all[i].Cite += "#" + strconv.Itoa(i)
			}
			all[i].Cut = len(all[i].Text) >= catalog.MaxRecordBytes-4
			size += len(all[i].Text)
		}
		if at.descending {
			slices.Reverse(all)
		}
		out = append(out, all...)
	})
	return out, next, count == pageSteps || size > pageBytes, err
}
