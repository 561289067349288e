package modelserver

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/tidwall/gjson"
)

// errNotJSON is what every protocol answers to a body that is no JSON object.
var errNotJSON = errors.New("the request body is not a JSON object")

// chatFront is OpenAI's Chat Completions.
type chatFront struct{}

func (chatFront) parse(_ string, body []byte) (Request, error) {
	doc, err := parseObject(body)
	r := Request{Wire: ChatCompletions, Model: doc.Get("model").String(), Stream: doc.Get("stream").Bool()}
	if err != nil {
		return r, err
	}
	if !doc.Get("messages").IsArray() {
		return r, errors.New("messages is missing")
	}
	for _, m := range doc.Get("messages").Array() {
		r.add(Message{
			Role: roleOf(m.Get("role").String()), Text: textOf(m.Get("content")),
			CallID: m.Get("tool_call_id").String(), Calls: chatCalls(m.Get("tool_calls")),
		})
	}
	for _, tool := range doc.Get("tools").Array() {
		f := tool.Get("function")
		r.Tools = append(r.Tools, Tool{
			Name: f.Get("name").String(), Description: f.Get("description").String(), Schema: schemaOf(f.Get("parameters")),
		})
	}
	return r, nil
}

func chatCalls(list gjson.Result) []ToolCall {
	var calls []ToolCall
	for _, c := range list.Array() {
		calls = append(calls, ToolCall{
			ID: c.Get("id").String(), Name: c.Get("function.name").String(), Arguments: c.Get("function.arguments").String(),
		})
	}
	return calls
}

func (chatFront) whole(t turn) any {
	message := object{"role": "assistant", "content": t.reply.Text}
	if t.reply.Reasoning != "" {
		message["reasoning_content"] = t.reply.Reasoning
	}
	if len(t.reply.Calls) > 0 {
		calls := make([]object, len(t.reply.Calls))
		for i, c := range t.reply.Calls {
			calls[i] = object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}}
		}
		message["tool_calls"] = calls
	}
	return object{
		"id": "chatcmpl-" + t.id, "object": "chat.completion", "created": t.req.At.Unix(), "model": t.req.Model,
		"choices": []object{{"index": 0, "message": message, "finish_reason": t.chatFinish()}}, "usage": t.chatUsage(),
	}
}

func (chatFront) stream(t turn) frames {
	chunk := func(delta object, finish any) frame {
		return newFrame("", t.chatChunk([]object{{"index": 0, "delta": delta, "finish_reason": finish}}, nil))
	}
	fs := frames{open: []frame{chunk(object{"role": "assistant", "content": ""}, nil)}}
	for _, piece := range pieces(t.reply.Reasoning, t.chunk) {
		fs.body = append(fs.body, chunk(object{"reasoning_content": piece}, nil))
	}
	for _, piece := range pieces(t.reply.Text, t.chunk) {
		fs.body = append(fs.body, chunk(object{"content": piece}, nil))
	}
	for i, c := range t.reply.Calls {
		head := object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}}
		fs.body = append(fs.body, chunk(object{"tool_calls": []object{head}}, nil))
		for _, piece := range pieces(c.Arguments, t.chunk) {
			part := object{"index": i, "function": object{"arguments": piece}}
			fs.body = append(fs.body, chunk(object{"tool_calls": []object{part}}, nil))
		}
	}
	fs.end = append(fs.end, chunk(object{}, t.chatFinish()))
	if gjson.GetBytes(t.req.Body, "stream_options.include_usage").Bool() {
		fs.end = append(fs.end, newFrame("", t.chatChunk([]object{}, t.chatUsage())))
	}
	fs.end = append(fs.end, frame{data: "[DONE]"})
	return fs
}

func (t turn) chatChunk(choices []object, usage any) object {
	return object{
		"id": "chatcmpl-" + t.id, "object": "chat.completion.chunk", "created": t.req.At.Unix(), "model": t.req.Model,
		"choices": choices, "usage": usage,
	}
}

func (t turn) chatFinish() string {
	switch {
	case t.reply.Truncated:
		return "length"
	case len(t.reply.Calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func (t turn) chatUsage() object {
	return object{
		"prompt_tokens": t.usage.Input, "completion_tokens": t.usage.Output, "total_tokens": t.usage.Input + t.usage.Output,
		"prompt_tokens_details":     object{"cached_tokens": t.usage.CachedInput},
		"completion_tokens_details": object{"reasoning_tokens": t.usage.Reasoning},
	}
}

func (chatFront) fail(status int, message string) any {
	return object{"error": object{"message": message, "type": errorKind(status), "param": nil, "code": errorCode(status)}}
}

func errorKind(status int) string {
	switch {
	case status == 401:
		return "authentication_error"
	case status == 403:
		return "permission_error"
	case status == 404:
		return "not_found_error"
	case status == 429:
		return "rate_limit_error"
	case status >= 500:
		return "api_error"
	default:
		return "invalid_request_error"
	}
}

func errorCode(status int) any {
	switch status {
	case 401:
		return "invalid_api_key"
	case 404:
		return "model_not_found"
	case 429:
		return "rate_limit_exceeded"
	default:
		return nil
	}
}

// parseObject checks that the body is one JSON object.
func parseObject(body []byte) (gjson.Result, error) {
	if !gjson.ValidBytes(body) {
		return gjson.Result{}, errNotJSON
	}
	doc := gjson.ParseBytes(body)
	if !doc.IsObject() {
		return gjson.Result{}, errNotJSON
	}
	return doc, nil
}

// add puts a message where it belongs: system text is kept apart.
func (r *Request) add(m Message) {
	if m.Role != System {
		r.Messages = append(r.Messages, m)
		return
	}
	if r.System != "" && m.Text != "" {
		r.System += "\n"
	}
	r.System += m.Text
}

func roleOf(role string) Role {
	switch role {
	case "system", "developer":
		return System
	case "assistant", "model":
		return Assistant
	case "tool", "function":
		return ToolRole
	default:
		return User
	}
}

// textOf joins the text of a content, which is a string or a list of blocks with a text each.
func textOf(content gjson.Result) string {
	if !content.IsArray() {
		if content.IsObject() {
			return content.Get("text").String()
		}
		return content.String()
	}
	var parts []string
	for _, block := range content.Array() {
		if text := block.Get("text"); text.Type == gjson.String {
			parts = append(parts, text.Str)
		}
	}
	return strings.Join(parts, "\n")
}

func schemaOf(schema gjson.Result) json.RawMessage {
	if !schema.Exists() {
		return nil
	}
	return json.RawMessage(schema.Raw)
}
