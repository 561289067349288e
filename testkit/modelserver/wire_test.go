package modelserver

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// wires are the protocols with a conversation that has everything: a system text, an answered call, two tools.
var wires = []struct {
	name, path, streamPath string
	body                   string
	// paths into a whole answer
	text, reasoning, call, arguments, input, output string
	errorText                                       string
}{
	{
		name: "chat", path: "/v1/chat/completions", streamPath: "/v1/chat/completions",
		body: `{"model":"fake-1","stream":%t,"stream_options":{"include_usage":true},"messages":[
			{"role":"system","content":"be brief"},{"role":"developer","content":"and kind"},
			{"role":"user","content":[{"type":"text","text":"add"},{"type":"text","text":"one"}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"add","arguments":"{\"n\":1}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"2"}],
			"tools":[{"type":"function","function":{"name":"add","description":"adds","parameters":{"type":"object"}}},
			{"type":"function","function":{"name":"sub"}}]}`,
		text: "choices.0.message.content", reasoning: "choices.0.message.reasoning_content",
		call: "choices.0.message.tool_calls.0.function.name", arguments: "choices.0.message.tool_calls.0.function.arguments",
		input: "usage.prompt_tokens", output: "usage.completion_tokens", errorText: "error.message",
	},
	{
		name: "responses", path: "/v1/responses", streamPath: "/v1/responses",
		body: `{"model":"fake-1","stream":%t,"instructions":"be brief","input":[
			{"type":"message","role":"developer","content":[{"type":"input_text","text":"and kind"}]},
			{"role":"user","content":[{"type":"input_text","text":"add"},{"type":"input_text","text":"one"}]},
			{"type":"reasoning","id":"r"},
			{"type":"function_call","call_id":"c1","name":"add","arguments":"{\"n\":1}"},
			{"type":"function_call_output","call_id":"c1","output":"2"}],
			"tools":[{"type":"function","name":"add","description":"adds","parameters":{"type":"object"}},
			{"type":"web_search"},{"type":"function","name":"sub"}]}`,
		text: `output.#(type=="message").content.0.text`, reasoning: `output.#(type=="reasoning").summary.0.text`,
		call: `output.#(type=="function_call").name`, arguments: `output.#(type=="function_call").arguments`,
		input: "usage.input_tokens", output: "usage.output_tokens", errorText: "error.message",
	},
	{
		name: "messages", path: "/v1/messages", streamPath: "/v1/messages",
		body: `{"model":"fake-1","stream":%t,"system":[{"type":"text","text":"be brief"},{"type":"text","text":"and kind"}],"messages":[
			{"role":"user","content":"add\none"},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"c1","name":"add","input":{"n":1}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"2"}]}]}],
			"tools":[{"name":"add","description":"adds","input_schema":{"type":"object"}},{"name":"sub"}]}`,
		text: `content.#(type=="text").text`, reasoning: `content.#(type=="thinking").thinking`,
		call: `content.#(type=="tool_use").name`, arguments: `content.#(type=="tool_use").input|@ugly`,
		input: "usage.input_tokens", output: "usage.output_tokens", errorText: "error.message",
	},
	{
		name: "gemini", path: "/v1beta/models/fake-1:generateContent", streamPath: "/v1beta/models/fake-1:streamGenerateContent?alt=sse",
		body: `{"systemInstruction":{"parts":[{"text":"be brief"},{"text":"and kind"}]},"contents":[
			{"role":"user","parts":[{"text":"add"},{"text":"one"}]},
			{"role":"model","parts":[{"functionCall":{"id":"c1","name":"add","args":{"n":1}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"add","response":2}}]}],
			"tools":[{"functionDeclarations":[{"name":"add","description":"adds","parametersJsonSchema":{"type":"object"}},{"name":"sub"}]}],
			"unused":%t}`,
		text: "candidates.0.content.parts.1.text", reasoning: "candidates.0.content.parts.#(thought==true).text",
		call:      "candidates.0.content.parts.#(functionCall).functionCall.name",
		arguments: "candidates.0.content.parts.#(functionCall).functionCall.args|@ugly",
		input:     "usageMetadata.promptTokenCount", output: "usageMetadata.candidatesTokenCount", errorText: "error.message",
	},
}

func post(t *testing.T, s *Server, path, body string) (*http.Response, []byte) {
	t.Helper()
	response, err := send(t, s, path, body)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("reading the answer: %v", err)
	}
	return response, got
}

func send(t *testing.T, s *Server, path, body string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return http.DefaultTransport.RoundTrip(request)
}

func TestEveryProtocolIsReadTheSame(t *testing.T) {
	t.Parallel()
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := New(t, &Options{Script: []Step{{Reply: Say("ok")}}})
			post(t, s, w.path, fmt.Sprintf(w.body, false))
			r := s.Requests()[0]
			type view struct {
				System, Prompt, Model string
				Step                  int
				Messages              []Message
				Tools                 []Tool
			}
			got := view{r.System, r.Prompt(), r.Model, r.TurnStep(), r.Messages, r.Tools}
			for i := range got.Tools {
				got.Tools[i].Schema = bytes.TrimSpace(got.Tools[i].Schema)
			}
			want := view{
				System: "be brief\nand kind", Prompt: "add\none", Model: DefaultModel, Step: 2,
				Messages: []Message{
					{Role: User, Text: "add\none"},
					{Role: Assistant, Calls: []ToolCall{{ID: "c1", Name: "add", Arguments: `{"n":1}`}}},
					{Role: ToolRole, CallID: "c1", Text: "2"},
				},
				Tools: []Tool{{Name: "add", Description: "adds", Schema: []byte(`{"type":"object"}`)}, {Name: "sub"}},
			}
			if diff := cmp.Diff(want, got, cmp.Transformer("schema", func(b []byte) string { return string(b) })); diff != "" {
				t.Errorf("request differs (-want +got):\n%s", diff)
			}
		})
	}
}

// everything is an answer with all kinds of content, long enough for several pieces.
var everything = Reply{
	Reasoning: "thinking a while, and then some more", Text: "wörter und wörter und noch mehr wörter, ünd sö wéiter",
	Calls: []ToolCall{NewCall("add", `{"n":41}`)}, Usage: &Usage{Input: 30, Output: 12},
}

func TestWholeAnswers(t *testing.T) {
	t.Parallel()
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := New(t, &Options{Script: []Step{{Reply: everything}}})
			response, body := post(t, s, w.path, fmt.Sprintf(w.body, false))
			if response.StatusCode != http.StatusOK || !gjson.ValidBytes(body) {
				t.Fatalf("answer = %d %s", response.StatusCode, body)
			}
			for path, want := range map[string]string{
				w.text: everything.Text, w.reasoning: everything.Reasoning, w.call: "add", w.arguments: `{"n":41}`,
				w.input: "30", w.output: "12",
			} {
				if got := gjson.GetBytes(body, path).String(); got != want {
					t.Errorf("%s = %q, want %q in %s", path, got, want, body)
				}
			}
		})
	}
}

// TestStreamedAnswers holds the exact bytes of each protocol against files; UPDATE_GOLDEN=1 rewrites them. The formats are those
// that the real clients were driven with.
func TestStreamedAnswers(t *testing.T) {
	t.Parallel()
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := New(t, &Options{Script: []Step{{Reply: everything}}})
			response, body := post(t, s, w.streamPath, fmt.Sprintf(w.body, true))
			if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
				t.Errorf("Content-Type = %q", got)
			}
			at := fmt.Sprint(s.Requests()[0].At.Unix())
			got := strings.ReplaceAll(string(body), at, "1700000000")
			golden(t, filepath.Join("testdata", w.name+".sse"), got)
			for line := range strings.Lines(got) {
				data, ok := strings.CutPrefix(line, "data: ")
				if ok && strings.TrimSpace(data) != "[DONE]" && !gjson.Valid(data) {
					t.Errorf("frame is no JSON: %s", data)
				}
			}
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func TestGeminiStreamsAnArrayWithoutSSE(t *testing.T) {
	t.Parallel()
	s := New(t, &Options{Script: []Step{{Reply: everything}}})
	_, body := post(t, s, "/v1beta/models/fake-1:streamGenerateContent", `{"contents":[]}`)
	if !gjson.ValidBytes(body) || !gjson.ParseBytes(body).IsArray() || len(gjson.ParseBytes(body).Array()) < 4 {
		t.Errorf("answer = %s, want an array of several", body)
	}
}

func TestErrorAnswers(t *testing.T) {
	t.Parallel()
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := New(t, &Options{APIKey: "secret", Script: []Step{
				{Reply: Fail(http.StatusUnauthorized, "bad key")},
				{Reply: RateLimit(1500 * time.Millisecond)},
				{Reply: Fail(http.StatusInternalServerError, "")},
				{Reply: Reply{Status: http.StatusBadGateway, RawBody: "<html>"}},
			}})
			ask := func() (*http.Response, string) {
				response, body := post(t, s, join(w.path, "key=secret"), fmt.Sprintf(w.body, false))
				return response, string(body)
			}
			for _, want := range []struct {
				status     int
				text       string
				retryAfter string
			}{{401, "bad key", ""}, {429, "rate limit reached", "2"}, {500, "scripted failure 500", ""}} {
				response, body := ask()
				got := gjson.Get(body, w.errorText).String()
				if response.StatusCode != want.status || got != want.text || response.Header.Get("Retry-After") != want.retryAfter {
					t.Errorf("answer = %d %s (Retry-After %q), want %+v", response.StatusCode, body, response.Header.Get("Retry-After"), want)
				}
			}
			if response, body := ask(); response.StatusCode != http.StatusBadGateway || body != "<html>" {
				t.Errorf("raw answer = %d %q, want 502 <html>", response.StatusCode, body)
			}
			if response, _ := post(t, s, w.path, fmt.Sprintf(w.body, false)); response.StatusCode != http.StatusUnauthorized {
				t.Errorf("without the key: %d, want 401", response.StatusCode)
			}
			if response, body := post(t, s, join(w.path, "key=secret"), "[]"); response.StatusCode != http.StatusBadRequest || !gjson.GetBytes(body, w.errorText).Exists() {
				t.Errorf("no object: %d %s, want 400", response.StatusCode, body)
			}
			unknown := strings.NewReplacer("fake-1", "fake-2")
			if response, body := post(t, s, unknown.Replace(join(w.path, "key=secret")), unknown.Replace(fmt.Sprintf(w.body, false))); response.StatusCode != http.StatusNotFound || !strings.Contains(string(body), "fake-2") {
				t.Errorf("unknown model: %d %s, want 404 naming it", response.StatusCode, body)
			}
		})
	}
}

func join(path, query string) string {
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}

func TestSmallEndpoints(t *testing.T) {
	t.Parallel()
	s := New(t, &Options{Models: []string{"a", "b"}, APIKey: "k", MaxBodyBytes: 100})
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		field, want              string
	}{
		{"models", "GET", "/v1/models?key=k", "", 200, "data.#.id", `["a","b"]`},
		{"models without key", "GET", "/v1/models", "", 401, "error.type", "authentication_error"},
		{"gemini models", "GET", "/v1beta/models?key=k", "", 200, "models.1.name", "models/b"},
		{"gemini models without key", "GET", "/v1beta/models", "", 401, "error.status", "UNAUTHENTICATED"},
		{"count tokens", "POST", "/v1/messages/count_tokens", "12345678", 200, "input_tokens", "2"},
		{"gemini count", "POST", "/v1beta/models/a:countTokens", "1234", 200, "totalTokens", "1"},
		{"gemini other call", "POST", "/v1beta/models/a:other", "", 404, "error.status", "NOT_FOUND"},
		{"unknown path", "GET", "/nope", "", 404, "error.message", "unknown path /nope"},
		{"too large", "POST", "/v1/responses", strings.Repeat("x", 101), 413, "error.type", "invalid_request_error"},
		{"too large to count", "POST", "/v1/messages/count_tokens", strings.Repeat("x", 101), 400, "error.type", "invalid_request_error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			request, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL()+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if got := gjson.GetBytes(body, tt.field).String(); err != nil || response.StatusCode != tt.status || got != tt.want {
				t.Errorf("%s %s = %d %s, want %d with %s %q", tt.method, tt.path, response.StatusCode, body, tt.status, tt.field, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, w := range wires {
		f.Add(fmt.Sprintf(w.body, true))
	}
	f.Add(`{"messages":[{"role":"user","content":{"text":1}}],"input":[[],{}],"contents":[{"parts":{}}],"tools":{"a":1}}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, front := range []front{chatFront{}, responsesFront{}, messagesFront{}, geminiFront{}} {
			r, err := front.parse("/v1beta/models/m:streamGenerateContent", []byte(body))
			if err != nil {
				continue
			}
			if step := r.TurnStep(); step < 1 || step > len(r.Messages)+1 {
				t.Errorf("TurnStep() = %d of %d messages", step, len(r.Messages))
			}
			played := front.stream(turn{req: r, reply: everything, id: "1", chunk: 5})
			if len(played.end) == 0 {
				t.Error("the stream has no end")
			}
		}
	})
}

// lines reads the data lines of a stream until it ends or breaks.
func lines(body io.Reader) (data []string, err error) {
	scanner := bufio.NewScanner(body)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		if text, ok := strings.CutPrefix(scanner.Text(), "data: "); ok {
			data = append(data, text)
		}
	}
	return data, scanner.Err()
}
