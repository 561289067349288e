package modelserver

import (
	"errors"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// geminiFront is Gemini's generateContent. The model and whether to stream stand in the path.
type geminiFront struct{}

// gemini serves the calls on a model: the two that generate, and counting.
func (s *Server) gemini() http.Handler {
	generate, count := s.handle(geminiFront{}), s.count("totalTokens")
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		switch _, verb, _ := strings.Cut(hr.PathValue("call"), ":"); verb {
		case "generateContent", "streamGenerateContent":
			generate.ServeHTTP(w, hr)
		case "countTokens":
			count.ServeHTTP(w, hr)
		default:
			writeJSON(w, http.StatusNotFound, geminiFront{}.fail(http.StatusNotFound, "unknown call "+hr.PathValue("call")))
		}
	})
}

func (s *Server) listGeminiModels(w http.ResponseWriter, hr *http.Request) {
	if !s.allowed(hr) {
		writeJSON(w, http.StatusUnauthorized, geminiFront{}.fail(http.StatusUnauthorized, "wrong API key"))
		return
	}
	list := make([]object, len(s.opts.Models))
	for i, id := range s.opts.Models {
		list[i] = object{
			"name": "models/" + id, "displayName": id,
			"supportedGenerationMethods": []string{"generateContent", "countTokens"},
		}
	}
	writeJSON(w, http.StatusOK, object{"models": list})
}

func (geminiFront) parse(path string, body []byte) (Request, error) {
	model, verb, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	r := Request{Wire: GenerateContent, Model: model, Stream: verb == "streamGenerateContent"}
	doc, err := parseObject(body)
	if err != nil {
		return r, err
	}
	if !doc.Get("contents").IsArray() {
		return r, errors.New("contents is missing")
	}
	r.add(Message{Role: System, Text: textOf(doc.Get("systemInstruction.parts"))})
	for _, content := range doc.Get("contents").Array() {
		r.addParts(roleOf(content.Get("role").String()), content.Get("parts"))
	}
	for _, tool := range doc.Get("tools").Array() {
		for _, f := range tool.Get("functionDeclarations").Array() {
			schema := f.Get("parametersJsonSchema")
			if !schema.Exists() {
				schema = f.Get("parameters")
			}
			r.Tools = append(r.Tools, Tool{
				Name: f.Get("name").String(), Description: f.Get("description").String(), Schema: schemaOf(schema),
			})
		}
	}
	return r, nil
}

func (r *Request) addParts(role Role, parts gjson.Result) {
	said := Message{Role: role, Text: textOf(parts)}
	for _, part := range parts.Array() {
		if c := part.Get("functionCall"); c.Exists() {
			said.Calls = append(said.Calls, ToolCall{
				ID: c.Get("id").String(), Name: c.Get("name").String(), Arguments: c.Get("args").Raw,
			})
		}
		if f := part.Get("functionResponse"); f.Exists() {
			id := f.Get("id").String()
			if id == "" {
				id = f.Get("name").String()
			}
			r.add(Message{Role: ToolRole, CallID: id, Text: f.Get("response").Raw})
			said.Role = Note
		}
	}
	if said.Role != Note || said.Text != "" {
		r.add(said)
	}
}

func (geminiFront) whole(t turn) any {
	var parts []object
	if t.reply.Reasoning != "" {
		parts = append(parts, object{"text": t.reply.Reasoning, "thought": true})
	}
	if t.reply.Text != "" {
		parts = append(parts, object{"text": t.reply.Text})
	}
	return t.candidate(append(parts, t.geminiCalls()...), true)
}

func (geminiFront) stream(t turn) frames {
	var fs frames
	add := func(part object) {
		fs.body = append(fs.body, newFrame("", t.candidate([]object{part}, false)))
	}
	for _, piece := range pieces(t.reply.Reasoning, t.chunk) {
		add(object{"text": piece, "thought": true})
	}
	for _, piece := range pieces(t.reply.Text, t.chunk) {
		add(object{"text": piece})
	}
	for _, call := range t.geminiCalls() {
		add(call)
	}
	fs.end = []frame{newFrame("", t.candidate([]object{{"text": ""}}, true))}
	return fs
}

func (t turn) geminiCalls() []object {
	var parts []object
	for _, c := range t.reply.Calls {
		parts = append(parts, object{"functionCall": object{"id": c.ID, "name": c.Name, "args": rawJSON(c.Arguments)}})
	}
	return parts
}

func (t turn) candidate(parts []object, last bool) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	out := object{"candidates": []object{candidate}, "modelVersion": t.req.Model, "responseId": "resp-" + t.id}
	if !last {
		return out
	}
	candidate["finishReason"] = "STOP"
	if t.reply.Truncated {
		candidate["finishReason"] = "MAX_TOKENS"
	}
	out["usageMetadata"] = object{
		"promptTokenCount": t.usage.Input, "cachedContentTokenCount": t.usage.CachedInput,
		"candidatesTokenCount": t.usage.Output - t.usage.Reasoning, "thoughtsTokenCount": t.usage.Reasoning,
		"totalTokenCount": t.usage.Input + t.usage.Output,
	}
	return out
}

func (geminiFront) fail(status int, message string) any {
	names := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE",
	}
	name, ok := names[status]
	if !ok {
		name = "INTERNAL"
	}
	return object{"error": object{"code": status, "message": message, "status": name}}
}
