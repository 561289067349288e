package opencode

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Action is what a permission [Rule] says.
type Action string

// The actions. A denied tool is not offered to the model.
const (
	Allow Action = "allow"
	Ask   Action = "ask"
	Deny  Action = "deny"
)

// Rule is one permission rule of a session. Of several rules that match, the last one counts, so their order is kept.
type Rule struct {
	// Permission is a tool's name or a group's ("edit", "bash"), wildcards allowed.
	Permission string `json:"permission"`
	// Pattern is what of it is meant; empty means "*".
	Pattern string `json:"pattern"`
	Action  Action `json:"action"`
}

// NewSession says what a session starts with. The zero value is usable.
type NewSession struct {
	// Title keeps the server from asking the model for one; empty lets it ask.
	Title string
	// ParentID makes it a child of another session.
	ParentID string
	// Permission are rules for this session, on top of the configuration's.
	Permission []Rule
}

// Session is what the server knows of a session.
type Session struct {
	ID, ParentID, ProjectID string
	Directory, Title        string
	// Version is that of the OpenCode that made it.
	Version          string
	Permission       []Rule
	Created, Updated time.Time
	// Raw is the session as it came.
	Raw string
}

// checkSessionID refuses what the server would answer with an internal error for: an id is "ses" and word characters, and it
// becomes a part of a path.
func checkSessionID(op, id string) error {
	rest, ok := strings.CutPrefix(id, "ses")
	bad := func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if !ok || rest == "" || strings.ContainsFunc(rest, bad) || len(id) > maxIDBytes {
		return fmt.Errorf("%s: %w: %.80q is no id of an OpenCode session", op, ErrSessionNotFound, id)
	}
	return nil
}

// maxIDBytes bounds an id; the server's own are about 30 bytes long.
const maxIDBytes = 200

// checkID refuses an id that could change the path that it becomes a part of.
func checkID(op, id string, absent error) error {
	if id == "" || len(id) > maxIDBytes || strings.ContainsAny(id, "/?#%\\ ") || id == "." || id == ".." {
		return fmt.Errorf("%s: %w: %.80q is no id", op, absent, id)
	}
	return nil
}

// CreateSession creates a session in the client's directory.
func (c *Client) CreateSession(ctx context.Context, n NewSession) (Session, error) {
	body := map[string]any{}
	if n.Title != "" {
		body["title"] = n.Title
	}
	if n.ParentID != "" {
		body["parentID"] = n.ParentID
	}
	if len(n.Permission) > 0 {
		body["permission"] = filled(n.Permission)
	}
	doc, err := c.object(ctx, call{op: "creating a session", method: "POST", path: "/session", body: body})
	if err != nil {
		return Session{}, err
	}
	s := decodeSession(doc)
	if err := checkSessionID("creating a session", s.ID); err != nil {
		return Session{}, fmt.Errorf("%w: %w", ErrUnexpectedReply, err)
	}
	c.link.visit(c.dir)
	return s, nil
}

func filled(rules []Rule) []Rule {
	out := make([]Rule, len(rules))
	for i, r := range rules {
		if r.Pattern == "" {
			r.Pattern = "*"
		}
		out[i] = r
	}
	return out
}

// visit remembers a directory that has an instance on the server.
func (l *link) visit(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirs[dir] = struct{}{}
}

// Session returns a session. [ErrSessionNotFound] is definite; after any other error it may exist.
func (c *Client) Session(ctx context.Context, id string) (Session, error) {
	op := fmt.Sprintf("getting session %q", id)
	if err := checkSessionID(op, id); err != nil {
		return Session{}, err
	}
	doc, err := c.object(ctx, call{op: op, method: "GET", path: "/session/" + id, absent: ErrSessionNotFound})
	if err != nil {
		return Session{}, err
	}
	return decodeSession(doc), nil
}

// Sessions lists at most limit sessions of the client's directory, the last used first; zero means the server's own limit.
func (c *Client) Sessions(ctx context.Context, limit int) ([]Session, error) {
	query := url.Values{}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	list, err := c.list(ctx, call{op: "listing sessions", method: "GET", path: "/session", query: query})
	if err != nil {
		return nil, err
	}
	out := make([]Session, len(list))
	for i, doc := range list {
		out[i] = decodeSession(doc)
	}
	return out, nil
}

// DeleteSession deletes a session and its messages.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	op := fmt.Sprintf("deleting session %q", id)
	if err := checkSessionID(op, id); err != nil {
		return err
	}
	if err := c.mustExist(ctx, id); err != nil {
		return err
	}
	_, err := c.do(ctx, call{op: op, method: "DELETE", path: "/session/" + id, absent: ErrSessionNotFound})
	return err
}

// mustExist asks for a session where the server would answer success for one that is not there.
func (c *Client) mustExist(ctx context.Context, id string) error {
	quiet, err := c.quiet(ctx)
	if err != nil || !quiet {
		return err
	}
	_, err = c.Session(ctx, id)
	return err
}

// Abort ends the running turn of a session: the model's connection is closed, tools are cancelled, shell commands are
// killed. It returns within about half a second, before the last events of the turn. Aborting an idle session does nothing.
func (c *Client) Abort(ctx context.Context, id string) error {
	op := fmt.Sprintf("aborting session %q", id)
	if err := checkSessionID(op, id); err != nil {
		return err
	}
	_, err := c.do(ctx, call{op: op, method: "POST", path: "/session/" + id + "/abort", absent: ErrSessionNotFound})
	return err
}

// StatusKind says what a session is doing.
type StatusKind string

// The kinds of status.
const (
	Idle     StatusKind = "idle"
	Busy     StatusKind = "busy"
	Retrying StatusKind = "retry"
)

// Status is what a session is doing.
type Status struct {
	Kind StatusKind
	// Attempt, Message and Next tell of the coming retry of a model call, if Kind is [Retrying].
	Attempt int
	Message string
	Next    time.Time
}

// Statuses returns the status of all sessions of the client's directory that are not idle.
func (c *Client) Statuses(ctx context.Context) (map[string]Status, error) {
	doc, err := c.object(ctx, call{op: "asking for the status of sessions", method: "GET", path: "/session/status"})
	if err != nil {
		return nil, err
	}
	out := make(map[string]Status)
	for id, s := range doc.Map() {
		out[id] = decodeStatus(s)
	}
	return out, nil
}

func decodeSession(doc gjson.Result) Session {
	return Session{
		ID: doc.Get("id").String(), ParentID: doc.Get("parentID").String(), ProjectID: doc.Get("projectID").String(),
		Directory: doc.Get("directory").String(), Title: doc.Get("title").String(), Version: doc.Get("version").String(),
		Permission: decodeRules(doc.Get("permission")),
		Created:    millis(doc.Get("time.created")), Updated: millis(doc.Get("time.updated")), Raw: doc.Raw,
	}
}

func decodeRules(list gjson.Result) []Rule {
	var rules []Rule
	for _, r := range list.Array() {
		rules = append(rules, Rule{
			Permission: r.Get("permission").String(), Pattern: r.Get("pattern").String(), Action: Action(r.Get("action").String()),
		})
	}
	return rules
}

func decodeStatus(doc gjson.Result) Status {
	return Status{
		Kind: StatusKind(doc.Get("type").String()), Attempt: int(doc.Get("attempt").Int()),
		Message: doc.Get("message").String(), Next: millis(doc.Get("next")),
	}
}

// millis reads a time in milliseconds; what is missing is the zero time.
func millis(n gjson.Result) time.Time {
	if ms := n.Int(); ms > 0 {
		return time.UnixMilli(ms)
	}
	return time.Time{}
}
