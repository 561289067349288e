package agentd

import (
	"strings"
	"time"

	"agentd/messages"
	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// item is an entry of a session's stream. Values point into the line.
type item struct {
	id, kind, role, content, name bounded.Value
	arguments, output, fault      bounded.Value
	at                            int64
}

func decodeItem(data []byte) item {
	var i item
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "id":
			i.id = v
		case "type":
			i.kind = v
		case "role":
			i.role = v
		case "content":
			i.content = v
		case "name":
			i.name = v
		case "arguments":
			i.arguments = v
		case "output":
			i.output = v
		case "error":
			i.fault = v
		case "created-at":
			i.at = seconds(v)
		}
	}
	return i
}

// seconds returns the time of a JSON number of Unix seconds, in milliseconds, or 0.
func seconds(v bounded.Value) int64 {
	n, ok := v.Number()
	if !ok || n < 0 || n > 1e12 {
		return 0
	}
	return bounded.UnixMillis(int64(n), time.Second)
}

// is reports whether the item is of a type.
func (i *item) is(kind messages.ItemType) bool { return i.kind.Equal(string(kind)) }

// prompt returns what a person typed.
func (i *item) prompt() string {
	if !i.is(messages.ItemMessage) || !i.role.Equal(string(messages.RoleUser)) {
		return ""
	}
	return strings.TrimSpace(i.content.Text(catalog.MaxTextBytes))
}

// record returns what the item says. What the model thought, and what only the program noted, says nothing.
func (i *item) record() catalog.Record {
	rec := catalog.Record{Cite: i.id.Text(128), TimeMS: i.at}
	text := func(v bounded.Value) string { return strings.TrimSpace(v.Text(catalog.MaxRecordBytes - 300)) }
	switch messages.ItemType(i.kind.Bytes()) {
	case messages.ItemMessage:
		rec.Role, rec.Text = roleOf(i.role), strings.TrimSpace(i.content.Text(catalog.MaxRecordBytes))
	case messages.ItemToolCall:
		rec.Role, rec.Text = catalog.Tool, i.name.Text(256)+" "+text(i.arguments)
	case messages.ItemToolResult:
		rec.Role, rec.Text = catalog.Tool, i.name.Text(256)+"\n"+text(i.output)
	case messages.ItemError:
		rec.Role, rec.Text = catalog.System, text(i.fault)
	case messages.ItemReasoning, messages.ItemEvent:
	}
	return rec
}

func roleOf(v bounded.Value) catalog.Role {
	switch messages.Role(v.Bytes()) {
	case messages.RoleUser:
		return catalog.User
	case messages.RoleAssistant:
		return catalog.Assistant
	case messages.RoleSystem:
		return catalog.System
	default:
		return catalog.System
	}
}
