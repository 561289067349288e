package modelserver

import (
	"errors"
	"maps"
	"strconv"

	"github.com/tidwall/gjson"
)

// responsesFront is OpenAI's Responses.
type responsesFront struct{ chatErrors }

// chatErrors are the error bodies that OpenAI's two protocols share.
type chatErrors struct{}

func (chatErrors) fail(status int, message string) any { return chatFront{}.fail(status, message) }

func (responsesFront) parse(_ string, body []byte) (Request, error) {
	doc, err := parseObject(body)
	r := Request{Wire: Responses, Model: doc.Get("model").String(), Stream: doc.Get("stream").Bool()}
	if err != nil {
		return r, err
	}
	r.add(Message{Role: System, Text: doc.Get("instructions").String()})
	input := doc.Get("input")
	switch {
	case !input.Exists():
		return r, errors.New("input is missing")
	case !input.IsArray():
		r.add(Message{Role: User, Text: input.String()})
	default:
		for _, item := range input.Array() {
			r.addItem(item)
		}
	}
	r.Tools = responsesTools(doc.Get("tools"), "")
	return r, nil
}

func (r *Request) addItem(item gjson.Result) {
	switch item.Get("type").String() {
	case "", "message":
		r.add(Message{Role: roleOf(item.Get("role").String()), Text: textOf(item.Get("content"))})
	case "function_call":
		call := ToolCall{
			ID: item.Get("call_id").String(), Namespace: item.Get("namespace").String(),
			Name: item.Get("name").String(), Arguments: item.Get("arguments").String(),
		}
		// Several calls of one step are items of their own, and one message here.
		if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == Assistant {
			r.Messages[n-1].Calls = append(r.Messages[n-1].Calls, call)
			return
		}
		r.add(Message{Role: Assistant, Calls: []ToolCall{call}})
	case "function_call_output":
		r.add(Message{Role: ToolRole, CallID: item.Get("call_id").String(), Text: textOf(item.Get("output"))})
	}
}

// responsesTools reads the flat list of functions, and namespaces with lists of their own.
func responsesTools(list gjson.Result, namespace string) []Tool {
	var tools []Tool
	for _, tool := range list.Array() {
		switch tool.Get("type").String() {
		case "function":
			tools = append(tools, Tool{
				Namespace: namespace, Name: tool.Get("name").String(),
				Description: tool.Get("description").String(), Schema: schemaOf(tool.Get("parameters")),
			})
		case "namespace":
			if namespace == "" {
				tools = append(tools, responsesTools(tool.Get("tools"), tool.Get("name").String())...)
			}
		}
	}
	return tools
}

func (responsesFront) whole(t turn) any {
	output := []object{}
	for _, item := range t.responseItems() {
		output = append(output, item.done)
	}
	return t.response("completed", output)
}

// responseItem is one item of the output: as it begins, as it ends, and what comes between.
type responseItem struct {
	begun, done object
	deltas      func(index int) []frame
}

func (t turn) responseItems() []responseItem {
	var items []responseItem
	if t.reply.Reasoning != "" {
		items = append(items, t.reasoningItem())
	}
	if t.reply.Text != "" || len(t.reply.Calls) == 0 {
		items = append(items, t.textItem())
	}
	for _, c := range t.reply.Calls {
		items = append(items, t.callItem(c))
	}
	return items
}

func (t turn) reasoningItem() responseItem {
	id, text := "rs_"+t.id, t.reply.Reasoning
	at := func(index int, more object) object {
		return merge(object{"item_id": id, "output_index": index, "summary_index": 0}, more)
	}
	part := func(text string) object { return object{"type": "summary_text", "text": text} }
	return responseItem{
		begun: object{"id": id, "type": "reasoning", "summary": []object{}},
		done:  object{"id": id, "type": "reasoning", "summary": []object{part(text)}},
		deltas: func(index int) []frame {
			fs := []frame{event("response.reasoning_summary_part.added", at(index, object{"part": part("")}))}
			for _, piece := range pieces(text, t.chunk) {
				fs = append(fs, event("response.reasoning_summary_text.delta", at(index, object{"delta": piece})))
			}
			return append(fs,
				event("response.reasoning_summary_text.done", at(index, object{"text": text})),
				event("response.reasoning_summary_part.done", at(index, object{"part": part(text)})))
		},
	}
}

func (t turn) textItem() responseItem {
	id, text := "msg_"+t.id, t.reply.Text
	at := func(index int, more object) object {
		return merge(object{"item_id": id, "output_index": index, "content_index": 0}, more)
	}
	part := func(text string) object {
		return object{"type": "output_text", "text": text, "annotations": []object{}}
	}
	item := func(status string, content []object) object {
		return object{"id": id, "type": "message", "role": "assistant", "status": status, "content": content}
	}
	return responseItem{
		begun: item("in_progress", []object{}), done: item("completed", []object{part(text)}),
		deltas: func(index int) []frame {
			fs := []frame{event("response.content_part.added", at(index, object{"part": part("")}))}
			for _, piece := range pieces(text, t.chunk) {
				fs = append(fs, event("response.output_text.delta", at(index, object{"delta": piece})))
			}
			return append(fs,
				event("response.output_text.done", at(index, object{"text": text})),
				event("response.content_part.done", at(index, object{"part": part(text)})))
		},
	}
}

func (t turn) callItem(c ToolCall) responseItem {
	id := "fc_" + c.ID
	item := func(status, arguments string) object {
		o := object{
			"id": id, "type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": arguments, "status": status,
		}
		if c.Namespace != "" {
			o["namespace"] = c.Namespace
		}
		return o
	}
	return responseItem{
		begun: item("in_progress", ""), done: item("completed", c.Arguments),
		deltas: func(index int) []frame {
			at := object{"item_id": id, "output_index": index}
			var fs []frame
			for _, piece := range pieces(c.Arguments, t.chunk) {
				fs = append(fs, event("response.function_call_arguments.delta", merge(at, object{"delta": piece})))
			}
			return append(fs, event("response.function_call_arguments.done", merge(at, object{"arguments": c.Arguments})))
		},
	}
}

func (responsesFront) stream(t turn) frames {
	fs := frames{open: []frame{
		event("response.created", object{"response": t.response("in_progress", []object{})}),
		event("response.in_progress", object{"response": t.response("in_progress", []object{})}),
	}}
	output := []object{}
	for i, item := range t.responseItems() {
		fs.body = append(fs.body, event("response.output_item.added", object{"output_index": i, "item": item.begun}))
		fs.body = append(fs.body, item.deltas(i)...)
		fs.body = append(fs.body, event("response.output_item.done", object{"output_index": i, "item": item.done}))
		output = append(output, item.done)
	}
	last := "response.completed"
	if t.reply.Truncated {
		last = "response.incomplete"
	}
	fs.end = []frame{event(last, object{"response": t.response("completed", output)})}
	// Numbered at the end, over all parts.
	n := 0
	for _, part := range [][]frame{fs.open, fs.body, fs.end} {
		for i := range part {
			part[i].data = withNumber(part[i].data, n)
			n++
		}
	}
	return fs
}

func (t turn) response(status string, output []object) object {
	r := object{
		"id": "resp_" + t.id, "object": "response", "created_at": t.req.At.Unix(), "model": t.req.Model,
		"status": status, "output": output, "error": nil, "incomplete_details": nil, "usage": nil,
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []object{}, "metadata": object{},
	}
	if status == "in_progress" {
		return r
	}
	if t.reply.Truncated {
		r["status"], r["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	}
	r["usage"] = object{
		"input_tokens": t.usage.Input, "input_tokens_details": object{"cached_tokens": t.usage.CachedInput},
		"output_tokens": t.usage.Output, "output_tokens_details": object{"reasoning_tokens": t.usage.Reasoning},
		"total_tokens": t.usage.Input + t.usage.Output,
	}
	return r
}

// event is a frame whose data carries the name of the event too.
func event(name string, data object) frame {
	return newFrame(name, merge(data, object{"type": name}))
}

func merge(a, b object) object {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// withNumber puts the sequence number, which the protocol wants in each event, into an encoded object.
func withNumber(data string, n int) string {
	return `{"sequence_number":` + strconv.Itoa(n) + "," + data[1:]
}
