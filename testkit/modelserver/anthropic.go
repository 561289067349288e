package modelserver

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/tidwall/gjson"
)

// messagesFront is Anthropic's Messages.
type messagesFront struct{}

func (messagesFront) parse(_ string, body []byte) (Request, error) {
	doc, err := parseObject(body)
	r := Request{Wire: Messages, Model: doc.Get("model").String(), Stream: doc.Get("stream").Bool()}
	if err != nil {
		return r, err
	}
	if !doc.Get("messages").IsArray() {
		return r, errors.New("messages is missing")
	}
	r.add(Message{Role: System, Text: textOf(doc.Get("system"))})
	for _, m := range doc.Get("messages").Array() {
		r.addBlocks(roleOf(m.Get("role").String()), m.Get("content"))
	}
	for _, tool := range doc.Get("tools").Array() {
		r.Tools = append(r.Tools, Tool{
			Name: tool.Get("name").String(), Description: tool.Get("description").String(),
			Schema: schemaOf(tool.Get("input_schema")),
		})
	}
	return r, nil
}

// addBlocks splits a message whose blocks play several roles: tool results stand in user messages here, and what a client
// writes beside them is not the person's prompt.
func (r *Request) addBlocks(role Role, content gjson.Result) {
	said := Message{Role: role, Text: textOf(content)}
	for _, block := range content.Array() {
		switch block.Get("type").String() {
		case "tool_use":
			said.Calls = append(said.Calls, ToolCall{
				ID: block.Get("id").String(), Name: block.Get("name").String(), Arguments: block.Get("input").Raw,
			})
		case "tool_result":
			r.add(Message{Role: ToolRole, CallID: block.Get("tool_use_id").String(), Text: textOf(block.Get("content"))})
			said.Role = Note
		}
	}
	if said.Role != Note || said.Text != "" {
		r.add(said)
	}
}

func (messagesFront) whole(t turn) any {
	content := []object{}
	if t.reply.Reasoning != "" {
		content = append(content, object{"type": "thinking", "thinking": t.reply.Reasoning, "signature": "scripted"})
	}
	if t.reply.Text != "" {
		content = append(content, object{"type": "text", "text": t.reply.Text})
	}
	for _, c := range t.reply.Calls {
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": rawJSON(c.Arguments)})
	}
	return t.message(content, t.messageStop())
}

func (messagesFront) stream(t turn) frames {
	fs := frames{open: []frame{
		event("message_start", object{"message": t.message([]object{}, nil)}),
		event("ping", object{}),
	}}
	index := 0
	block := func(begun object, deltas []object) {
		fs.body = append(fs.body, event("content_block_start", object{"index": index, "content_block": begun}))
		for _, d := range deltas {
			fs.body = append(fs.body, event("content_block_delta", object{"index": index, "delta": d}))
		}
		fs.body = append(fs.body, event("content_block_stop", object{"index": index}))
		index++
	}
	if t.reply.Reasoning != "" {
		deltas := deltasOf("thinking_delta", "thinking", t.reply.Reasoning, t.chunk)
		deltas = append(deltas, object{"type": "signature_delta", "signature": "scripted"})
		block(object{"type": "thinking", "thinking": "", "signature": ""}, deltas)
	}
	if t.reply.Text != "" {
		block(object{"type": "text", "text": ""}, deltasOf("text_delta", "text", t.reply.Text, t.chunk))
	}
	for _, c := range t.reply.Calls {
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}},
			deltasOf("input_json_delta", "partial_json", c.Arguments, t.chunk))
	}
	fs.end = []frame{
		event("message_delta", object{
			"delta": object{"stop_reason": t.messageStop(), "stop_sequence": nil}, "usage": t.messageUsage(t.usage.Output),
		}),
		event("message_stop", object{}),
	}
	return fs
}

func deltasOf(kind, field, text string, chunk int) []object {
	var out []object
	for _, piece := range pieces(text, chunk) {
		out = append(out, object{"type": kind, field: piece})
	}
	return out
}

// message is the envelope; without a stop reason it is that of a message that begins.
func (t turn) message(content []object, stop any) object {
	output := t.usage.Output
	if stop == nil {
		output = 1
	}
	return object{
		"id": "msg_" + t.id, "type": "message", "role": "assistant", "model": t.req.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": t.messageUsage(output),
	}
}

func (t turn) messageStop() string {
	switch {
	case t.reply.Truncated:
		return "max_tokens"
	case len(t.reply.Calls) > 0:
		return "tool_use"
	default:
		return "end_turn"
	}
}

func (t turn) messageUsage(output int) object {
	return object{
		"input_tokens": t.usage.Input - t.usage.CachedInput, "cache_read_input_tokens": t.usage.CachedInput,
		"cache_creation_input_tokens": 0, "output_tokens": output,
	}
}

func (messagesFront) fail(status int, message string) any {
	kind := errorKind(status)
	if status == 529 {
		kind = "overloaded_error"
	}
	return object{"type": "error", "error": object{"type": kind, "message": message}}
}

// rawJSON passes arguments on as they are where a protocol wants them decoded. Those that are no JSON become a string,
// since there is no other way to put them into a document.
func rawJSON(arguments string) any {
	if json.Valid([]byte(arguments)) && strings.TrimSpace(arguments) != "" {
		return json.RawMessage(arguments)
	}
	return arguments
}
