package opencode

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
)

// Permission is a request of a running turn to be allowed something.
type Permission struct {
	ID, SessionID string
	// Permission is what is asked for: a tool's name or a group's.
	Permission string
	// Patterns are what of it, such as commands; Always are the patterns that [ReplyAlways] would allow.
	Patterns, Always []string
	// MessageID and CallID name the tool call; its arguments are in the tool part.
	MessageID, CallID string
	// Metadata is JSON whose form depends on the tool; that of MCP tools is empty.
	Metadata string
	// Raw is the request as it came.
	Raw string
}

// PermissionReply is the answer to a [Permission].
type PermissionReply string

// The replies. Always holds for all sessions of the directory until the server ends.
const (
	ReplyOnce   PermissionReply = "once"
	ReplyAlways PermissionReply = "always"
	ReplyReject PermissionReply = "reject"
)

// Permissions lists the pending requests of the client's directory. A request of a turn that was aborted may still be among them;
// compare its CallID with what is running.
func (c *Client) Permissions(ctx context.Context) ([]Permission, error) {
	list, err := c.list(ctx, call{op: "listing permission requests", method: "GET", path: "/permission"})
	if err != nil {
		return nil, err
	}
	out := make([]Permission, len(list))
	for i, doc := range list {
		out[i] = decodePermission(doc)
	}
	return out, nil
}

// ReplyPermission answers a request. A rejection with a message is told to the model and the turn goes on; without one the
// turn ends.
func (c *Client) ReplyPermission(ctx context.Context, id string, reply PermissionReply, message string) error {
	op := fmt.Sprintf("answering permission request %q", id)
	if err := checkID(op, id, ErrPermissionNotFound); err != nil {
		return err
	}
	if !slices.Contains([]PermissionReply{ReplyOnce, ReplyAlways, ReplyReject}, reply) {
		return fmt.Errorf("%s: %w: reply is %q: give once, always or reject", op, ErrInvalid, reply)
	}
	quiet, err := c.quiet(ctx)
	if err != nil {
		return err
	}
	if quiet {
		pending, err := c.Permissions(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(pending, func(p Permission) bool { return p.ID == id }) {
			return fmt.Errorf("%s: %w", op, ErrPermissionNotFound)
		}
	}
	body := map[string]string{"reply": string(reply)}
	if message != "" {
		body["message"] = message
	}
	_, err = c.do(ctx, call{
		op: op, method: "POST", path: "/permission/" + id + "/reply", body: body, absent: ErrPermissionNotFound,
	})
	return err
}

func decodePermission(doc gjson.Result) Permission {
	return Permission{
		ID: doc.Get("id").String(), SessionID: doc.Get("sessionID").String(), Permission: doc.Get("permission").String(),
		Patterns: texts(doc.Get("patterns")), Always: texts(doc.Get("always")),
		MessageID: doc.Get("tool.messageID").String(), CallID: doc.Get("tool.callID").String(),
		Metadata: doc.Get("metadata").Raw, Raw: doc.Raw,
	}
}

func texts(list gjson.Result) []string {
	var out []string
	for _, item := range list.Array() {
		out = append(out, item.String())
	}
	return out
}
