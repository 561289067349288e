package antigravity

import (
	"cmp"
	"context"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/database"
	"agentd/providers/catalog/transcript"
)

// The types of steps that hold what was said, and the numbers of their fields in a step.
const (
	stepUserInput, fieldUserInput     = 14, 19
	stepResponse, fieldResponse       = 15, 20
	stepTool, fieldTool               = 132, 140
	fieldMetadata                     = 5
	maxStepBytes                      = 1 << 20
	promptSteps                       = 40 // how many steps are looked at from each end
	fieldCreated, fieldRoot           = 2, 6
	fieldText, fieldTyped, fieldCalls = 1, 2, 7
)

// parseConversation emits a fragment for the database of a conversation. One that this reader cannot understand is a
// conversation all the same.
func parseConversation(ctx context.Context, p *catalog.Parsing) error {
	var c conversation
	err := database.View(ctx, p.Unit.Path, func(ctx context.Context, db *database.DB) error {
		c = conversation{id: idOf(p.Unit)}
		if err := c.metadata(ctx, db); err != nil {
			return err
		}
		return c.prompts(ctx, db, p)
	})
	if err != nil {
		return err
	}
	s := catalog.Session{
		ID: c.id, ProjectPath: c.workspace, TimeMS: c.newest, Prompts: transcript.Prompts(c.first, c.last),
		Details: catalog.Details{StartedMS: p.Believe(c.created)},
	}
	if c.parent != "" {
		s.Parent, s.Relation, s.NonInteractive = c.parent, catalog.SubAgent, true
	}
	p.Emit(s)
	return nil
}

// conversation is what the database of a conversation tells.
type conversation struct {
	id, workspace, parent string
	first, last           string
	created, newest       int64
}

// metadata reads the directory and the conversation above.
func (c *conversation) metadata(ctx context.Context, db *database.DB) error {
	have, err := db.Columns(ctx, "trajectory_metadata_blob")
	if err != nil || !have["data"] {
		return err
	}
	var data []byte
	const query = "SELECT CAST(substr(CAST(data AS BLOB), 1, 262144) AS BLOB) FROM trajectory_metadata_blob LIMIT 4"
	return db.Each(ctx, query, nil, []any{&data}, func() error {
		c.workspace = cmp.Or(c.workspace, bounded.Clip(address(data, 3), catalog.MaxPathBytes+1))
		for f := range bounded.Proto(data) {
			switch root := string(f.Bytes); f.Number {
			case fieldCreated:
				c.created = cmp.Or(c.created, stamp(f.Bytes))
			case fieldRoot:
				if isID(root) && !strings.EqualFold(root, c.id) {
					c.parent = cmp.Or(c.parent, root)
				}
			}
		}
		return nil
	})
}

// address returns the first file address in a message, down to a depth, as a path.
func address(message []byte, depth int) string {
	for f := range bounded.Proto(message) {
		if path := bounded.FilePath(bounded.Clean(f.Bytes)); path != "" {
			return path
		}
		if depth > 0 && f.Bytes != nil {
			if path := address(f.Bytes, depth-1); path != "" {
				return path
			}
		}
	}
	return ""
}

// stamp returns a time of a protocol buffer, in Unix milliseconds.
func stamp(message []byte) int64 {
	var seconds, nanos uint64
	for f := range bounded.Proto(message) {
		switch f.Number {
		case 1:
			seconds = f.Varint
		case 2:
			nanos = f.Varint
		}
	}
	if seconds > 1<<40 || nanos >= 1e9 {
		return 0
	}
	return int64(seconds)*1000 + int64(nanos/1e6)
}

// prompts looks for the first prompt and the last one.
func (c *conversation) prompts(ctx context.Context, db *database.DB, p *catalog.Parsing) error {
	have, err := db.Columns(ctx, "steps")
	if err != nil || !have["idx"] || !have["step_payload"] {
		return err
	}
	for _, descending := range []bool{false, true} {
		var found string
		at := place{descending: descending}
		err := at.each(ctx, db, promptSteps, func(s *stored) {
			c.newest = p.Newest(c.newest, s.at)
			if found == "" {
				found = s.prompt()
			}
		})
		if err != nil {
			return err
		}
		if descending {
			c.last = found
		} else {
			c.first = found
		}
	}
	return nil
}
