package antigravity

import (
	"context"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
)

// stored is a step of a conversation's database.
type stored struct {
	index, kind uint64
	at          int64
	payload     []byte // of its kind
}

// decodeStored reads a protocol buffer of a step as far as it can be understood.
func decodeStored(index int64, data []byte) stored {
	s := stored{index: uint64(max(0, index))}
	payloads := map[uint64][]byte{}
	for f := range bounded.Proto(data) {
		switch f.Number {
		case 1:
			s.kind = f.Varint
		case fieldMetadata:
			for m := range bounded.Proto(f.Bytes) {
				if m.Number == 1 && m.Bytes != nil { // When it was made.
					s.at = stamp(m.Bytes)
				}
			}
		case fieldUserInput, fieldResponse, fieldTool:
			payloads[f.Number] = f.Bytes
		}
	}
	switch s.kind {
	case stepUserInput:
		s.payload = payloads[fieldUserInput]
	case stepResponse:
		s.payload = payloads[fieldResponse]
	case stepTool:
		s.payload = payloads[fieldTool]
	}
	return s
}

// text returns the first field of a number, as text.
func text(message []byte, number uint64) string {
	for f := range bounded.Proto(message) {
		if f.Number == number && f.Bytes != nil {
			return bounded.Clip(bounded.Clean(f.Bytes[:min(len(f.Bytes), catalog.MaxRecordBytes)]), catalog.MaxRecordBytes)
		}
	}
	return ""
}

// prompt returns what a person typed.
func (s *stored) prompt() string {
	if s.kind != stepUserInput {
		return ""
	}
	prompt := text(s.payload, fieldTyped)
	if prompt == "" {
		prompt = text(s.payload, fieldText) // As older versions have it.
	}
	return typed(prompt)
}

// records returns what the step says. What the model thought is left out.
func (s *stored) records() (out []catalog.Record) {
	add := func(role catalog.Role, said string) {
		out = append(out, catalog.Record{Role: role, Text: said, TimeMS: bounded.GuessMillis(float64(s.at))})
	}
	switch s.kind {
	case stepUserInput:
		add(catalog.User, s.prompt())
	case stepResponse:
		add(catalog.Assistant, text(s.payload, fieldText))
		for f := range bounded.Proto(s.payload) {
			if f.Number == fieldCalls {
				asked := bounded.Clip(text(f.Bytes, 2), 256) + " " + text(f.Bytes, 3) // The tool's name, and its input as JSON.
				add(catalog.Tool, bounded.Clip(strings.TrimSpace(asked), catalog.MaxRecordBytes))
			}
		}
	case stepTool:
		for f := range bounded.Proto(s.payload) {
			if f.Number == 2 && f.Bytes != nil { // Its result.
				add(catalog.Tool, text(f.Bytes, fieldText))
			}
		}
	}
	return out
}

// place is behind which step reading goes on.
type place struct {
	index      int64
	set        bool
	descending bool
}

// each visits at most so many steps from a place on. A step's type and payload stand in the protocol buffer alone.
func (p place) each(ctx context.Context, db *database.DB, limit int, visit func(*stored)) error {
	query := "SELECT idx, CAST(substr(CAST(step_payload AS BLOB), 1, ?) AS BLOB) FROM steps"
	args := []any{maxStepBytes}
	if p.set {
		sign := ">"
		if p.descending {
			sign = "<"
		}
		query += " WHERE idx " + sign + " ?"
		args = append(args, p.index)
	}
	var index database.Int
	var data []byte
	return db.Each(ctx, query+database.OrderBy(p.descending, "idx")+" LIMIT ?", append(args, limit), []any{&index, &data}, func() error {
		s := decodeStored(int64(index), data)
		visit(&s)
		return nil
	})
}
