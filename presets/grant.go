package presets

import (
	"context"
	"encoding/json"
	"fmt"

	"agentd/messages"
)

// GrantID names a grant.
type GrantID string

// GrantPrefix begins the ids of grants.
const GrantPrefix = "grant-"

// Scope says for whom a grant holds. An empty field is everybody.
type Scope struct {
	SessionID messages.SessionID `json:"session-id,omitempty"`
	AgentID   messages.AgentID   `json:"agent-id,omitempty"`
}

// Admits reports whether the caller is in the scope.
func (s Scope) Admits(caller Caller) bool {
	return (s.SessionID == "" || s.SessionID == caller.SessionID) && (s.AgentID == "" || s.AgentID == caller.AgentID)
}

// Grant is a person's standing approval of one exact call. It holds no argument text, only the fingerprint and a
// redacted preview.
type Grant struct {
	ID          GrantID       `json:"id"`
	ToolID      string        `json:"tool-id"`
	Name        string        `json:"name"`
	Risk        messages.Risk `json:"risk"`
	Fingerprint string        `json:"fingerprint"`
	Preview     string        `json:"preview,omitempty"`
	Scope       Scope         `json:"scope,omitzero"`
	// Who granted it, and why.
	Who    string `json:"who,omitempty"`
	Reason string `json:"reason,omitempty"`
	// CreatedAt and ExpiresAt are Unix seconds; zero ExpiresAt means never.
	CreatedAt int64 `json:"created-at"`
	ExpiresAt int64 `json:"expires-at,omitempty"`
}

// Covers reports whether the grant lets the call run at the moment now (Unix seconds). A call that has become riskier since
// then is not covered.
func (g Grant) Covers(query Query, now int64) bool {
	return g.Live(now) && g.Fingerprint == query.Fingerprint && g.ToolID == query.ToolID &&
		g.Risk == query.Risk && g.Scope.Admits(query.Caller)
}

// Live reports whether the grant has not expired.
func (g Grant) Live(now int64) bool { return g.ExpiresAt == 0 || now < g.ExpiresAt }

// Validate returns an error that wraps [ErrInvalid] and names the fault.
func (g Grant) Validate() error {
	if g.ID == "" || g.ToolID == "" || g.Fingerprint == "" {
		return fmt.Errorf("grant %.40q: %w: its id, tool id or fingerprint is empty", string(g.ID), ErrInvalid)
	}
	if err := g.Risk.Validate(); err != nil {
		return fmt.Errorf("grant %.40q: %w: %w", string(g.ID), ErrInvalid, err)
	}
	return nil
}

// GrantStore keeps grants over a restart, in {data-dir}/agent-approvals/grants.json. Its owner writes the file with
// [EncodeGrants]. One method is called at a time; both may block.
type GrantStore interface {
	// Load returns what was saved last; nothing saved yet is no grants and no error.
	Load(ctx context.Context) ([]Grant, error)
	// Save replaces what is stored, all or nothing. It returns when that is durable.
	Save(ctx context.Context, grants []Grant) error
}

// GrantsSchema names the layout of stored grants.
const GrantsSchema = "agentd.grants/1"

type grantsDocument struct {
	Schema string  `json:"schema"`
	Grants []Grant `json:"grants"`
}

// EncodeGrants returns the stored form: one JSON document that names its schema.
func EncodeGrants(grants []Grant) ([]byte, error) {
	if grants == nil {
		grants = []Grant{}
	}
	text, err := json.MarshalIndent(grantsDocument{Schema: GrantsSchema, Grants: grants}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding grants: %w", err)
	}
	return append(text, '\n'), nil
}

// DecodeGrants reads the stored form. A document of another schema is [ErrSchema], a grant that breaks a rule [ErrInvalid]:
// nothing is guessed and nothing skipped, since a lost revocation would be worse.
func DecodeGrants(text []byte) ([]Grant, error) {
	var doc grantsDocument
	if err := decodeDocument(text, GrantsSchema, &doc); err != nil {
		return nil, fmt.Errorf("decoding grants: %w", err)
	}
	seen := make(map[GrantID]bool, len(doc.Grants))
	for _, grant := range doc.Grants {
		if err := grant.Validate(); err != nil {
			return nil, fmt.Errorf("decoding grants: %w", err)
		}
		if seen[grant.ID] {
			return nil, fmt.Errorf("decoding grants: grant %q: %w: it stands there twice", grant.ID, ErrInvalid)
		}
		seen[grant.ID] = true
	}
	return doc.Grants, nil
}
