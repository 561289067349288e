package opencode

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// script answers requests by "METHOD /path"; what it does not know is the web page, as with the real one.
type script map[string]string

func (s script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := s[r.Method+" "+r.URL.Path]
	if !ok {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html>")
		return
	}
	status := map[string]int{"400": 400, "401": 401, "404": 404, "500": 500, "302": 302, "204": 204}[body[:min(3, len(body))]]
	if status == 0 {
		reply(w, 200, body)
		return
	}
	if status == 302 {
		w.Header().Set("Location", "/global/health")
	}
	reply(w, status, body[3:])
}

func clientOf(t *testing.T, handler http.Handler, opts *ClientOptions) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	c, err := NewClient(server.URL+"/", opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		server.Close()
	})
	return c
}

const (
	health18 = `{"healthy":true,"version":"1.18.33"}`
	health12 = `{"healthy":true,"version":"1.2.27"}`
	unknown  = `500{"name":"UnknownError","data":{"message":"Unexpected server error. Check server logs for details.","ref":"err_1"}}`
	noSes    = `404{"name":"NotFoundError","data":{"message":"Session not found: ses_1"}}`
	lists    = `{"providers":[{"id":"fake","models":{"fake-1":{}}}]}`
	agents   = `[{"name":"build"}]`
	failed   = `{"info":{"id":"msg_2","role":"assistant","parentID":"msg_1","error":{"name":"NAME","data":{"message":"why","statusCode":CODE,"isRetryable":true}}},"parts":[{"type":"text","text":"part of it"}]}`
)

func modelFailure(name, code string) string {
	return strings.NewReplacer("NAME", name, "CODE", code).Replace(failed)
}

func TestTypedErrors(t *testing.T) {
	t.Parallel()
	model := Model{ProviderID: "fake", ModelID: "fake-1"}
	prompt := func(p PromptParams) func(context.Context, *Client) error {
		p.Text = "hi"
		return func(ctx context.Context, c *Client) error {
			_, err := c.Prompt(ctx, "ses_1", p)
			return err
		}
	}
	async := func(p PromptParams) func(context.Context, *Client) error {
		p.Text = "hi"
		return func(ctx context.Context, c *Client) error { return c.PromptAsync(ctx, "ses_1", p) }
	}
	session := func(ctx context.Context, c *Client) error {
		_, err := c.Session(ctx, "ses_1")
		return err
	}
	tests := []struct {
		name   string
		script script
		call   func(context.Context, *Client) error
		want   error
		text   string
	}{
		{name: "unknown session", script: script{"GET /session/ses_1": noSes}, call: session, want: ErrSessionNotFound, text: "NotFoundError"},
		{name: "malformed session id", call: func(ctx context.Context, c *Client) error { _, err := c.Session(ctx, "nope/../x"); return err }, want: ErrSessionNotFound},
		{name: "internal error", script: script{"GET /session/ses_1": unknown}, call: session, want: ErrServer, text: "err_1"},
		{name: "older bad request", script: script{"GET /session/ses_1": `400{"data":{},"error":[{"message":"must start with ses"}],"success":false}`}, call: session, want: ErrBadRequest, text: "must start"},
		{name: "wrong password", script: script{"GET /session/ses_1": `401`}, call: session, want: ErrUnauthorized},
		{name: "web page", call: session, want: ErrUnexpectedReply, text: "text/html"},
		{name: "redirect", script: script{"GET /session/ses_1": "302", "GET /global/health": health18}, call: session, want: ErrUnexpectedReply},
		{name: "not JSON", script: script{"GET /session/ses_1": `{"id":`}, call: session, want: ErrUnexpectedReply, text: "not JSON"},
		{name: "not an object", script: script{"GET /session/ses_1": `[]`}, call: session, want: ErrUnexpectedReply, text: "an object"},
		{name: "too large", script: script{"GET /session/ses_1": `"` + strings.Repeat("x", 5000) + `"`}, call: session, want: ErrTooLarge},
		{name: "session without id", script: script{"POST /session": `{}`}, call: func(ctx context.Context, c *Client) error { _, err := c.CreateSession(ctx, NewSession{}); return err }, want: ErrUnexpectedReply},
		{name: "delete unknown", script: script{"GET /global/health": health18, "DELETE /session/ses_1": noSes}, call: func(ctx context.Context, c *Client) error { return c.DeleteSession(ctx, "ses_1") }, want: ErrSessionNotFound},
		{name: "delete unknown, older", script: script{"GET /global/health": health12, "GET /session/ses_1": noSes, "DELETE /session/ses_1": "true"}, call: func(ctx context.Context, c *Client) error { return c.DeleteSession(ctx, "ses_1") }, want: ErrSessionNotFound},
		{name: "messages of unknown", script: script{"GET /session/ses_1/message": noSes}, call: func(ctx context.Context, c *Client) error { _, err := c.Messages(ctx, "ses_1", 0); return err }, want: ErrSessionNotFound},
		{name: "answers to unknown", script: script{"GET /session/ses_1/message": "[]"}, call: func(ctx context.Context, c *Client) error { _, err := c.Answers(ctx, "ses_1", "msg_1"); return err }, want: ErrMessageNotFound},
		{name: "unhealthy", script: script{"GET /global/health": `{"healthy":false}`}, call: func(ctx context.Context, c *Client) error { _, err := c.Health(ctx); return err }, want: ErrServer},

		{name: "prompt in unknown session", script: script{"POST /session/ses_1/message": noSes}, call: prompt(PromptParams{}), want: ErrSessionNotFound},
		{name: "prompt in unknown session, older", script: script{"POST /session/ses_1/message": " ", "GET /session/ses_1": noSes}, call: prompt(PromptParams{}), want: ErrSessionNotFound},
		{name: "prompt for unknown model", script: script{"POST /session/ses_1/message": unknown, "GET /session/ses_1": `{"id":"ses_1"}`, "GET /config/providers": lists}, call: prompt(PromptParams{Model: Model{"fake", "nope"}}), want: ErrUnknownModel, text: "fake/nope"},
		{name: "prompt for unknown model, older", script: script{"POST /session/ses_1/message": " ", "GET /session/ses_1": `{"id":"ses_1"}`, "GET /config/providers": lists}, call: prompt(PromptParams{Model: Model{"nope", "fake-1"}}), want: ErrUnknownModel},
		{name: "prompt for unknown agent", script: script{"POST /session/ses_1/message": unknown, "GET /session/ses_1": `{"id":"ses_1"}`, "GET /agent": agents}, call: prompt(PromptParams{Agent: "nope"}), want: ErrUnknownAgent, text: "build"},
		{name: "prompt with an error nobody knows", script: script{"POST /session/ses_1/message": unknown, "GET /session/ses_1": `{"id":"ses_1"}`, "GET /config/providers": lists, "GET /agent": agents}, call: prompt(PromptParams{Model: model, Agent: "build"}), want: ErrServer, text: "err_1"},
		{name: "prompt without an answer", script: script{"POST /session/ses_1/message": `{}`, "GET /session/ses_1": `{"id":"ses_1"}`}, call: prompt(PromptParams{}), want: ErrUnexpectedReply},
		{name: "provider auth", script: script{"POST /session/ses_1/message": modelFailure("APIError", "401")}, call: prompt(PromptParams{}), want: ErrProviderAuth, text: "why"},
		{name: "rate limit", script: script{"POST /session/ses_1/message": modelFailure("APIError", "429")}, call: prompt(PromptParams{}), want: ErrRateLimited},
		{name: "provider", script: script{"POST /session/ses_1/message": modelFailure("APIError", "500")}, call: prompt(PromptParams{}), want: ErrProvider, text: "status 500"},
		{name: "provider login", script: script{"POST /session/ses_1/message": modelFailure("ProviderAuthError", "0")}, call: prompt(PromptParams{}), want: ErrProviderAuth},
		{name: "aborted", script: script{"POST /session/ses_1/message": modelFailure("MessageAbortedError", "0")}, call: prompt(PromptParams{}), want: ErrAborted},
		{name: "context", script: script{"POST /session/ses_1/message": modelFailure("ContextOverflowError", "0")}, call: prompt(PromptParams{}), want: ErrContextOverflow},
		{name: "output length", script: script{"POST /session/ses_1/message": modelFailure("MessageOutputLengthError", "0")}, call: prompt(PromptParams{}), want: ErrOutputLength},
		{name: "filter", script: script{"POST /session/ses_1/message": modelFailure("ContentFilterError", "0")}, call: prompt(PromptParams{}), want: ErrContentFilter},
		{name: "structure", script: script{"POST /session/ses_1/message": modelFailure("StructuredOutputError", "0")}, call: prompt(PromptParams{}), want: ErrStructuredOutput},
		{name: "new error", script: script{"POST /session/ses_1/message": modelFailure("BrandNewError", "0")}, call: prompt(PromptParams{}), want: ErrModel},
		{name: "no end", script: script{"POST /session/ses_1/message": `{"info":{"id":"msg_2","role":"assistant"},"parts":[]}`}, call: prompt(PromptParams{}), want: ErrIncomplete},

		{name: "async in unknown session", script: script{"GET /global/health": health18, "POST /session/ses_1/prompt_async": noSes}, call: async(PromptParams{}), want: ErrSessionNotFound},
		{name: "async in unknown session, older", script: script{"GET /global/health": health12, "GET /session/ses_1": noSes, "POST /session/ses_1/prompt_async": "204"}, call: async(PromptParams{}), want: ErrSessionNotFound},
		{name: "async for unknown agent, older", script: script{"GET /global/health": health12, "GET /session/ses_1": `{"id":"ses_1"}`, "GET /agent": agents, "POST /session/ses_1/prompt_async": "204"}, call: async(PromptParams{Agent: "nope"}), want: ErrUnknownAgent},
		{name: "async for unknown model, older", script: script{"GET /global/health": health12, "GET /session/ses_1": `{"id":"ses_1"}`, "GET /config/providers": lists, "POST /session/ses_1/prompt_async": "204"}, call: async(PromptParams{Model: Model{"fake", "x"}}), want: ErrUnknownModel},

		{name: "permission", script: script{"GET /global/health": health18, "POST /permission/per_1/reply": `404{"_tag":"PermissionNotFoundError","message":"not found"}`}, call: func(ctx context.Context, c *Client) error { return c.ReplyPermission(ctx, "per_1", ReplyOnce, "") }, want: ErrPermissionNotFound, text: "PermissionNotFoundError"},
		{name: "permission, older", script: script{"GET /global/health": health12, "GET /permission": `[{"id":"per_2"}]`}, call: func(ctx context.Context, c *Client) error { return c.ReplyPermission(ctx, "per_1", ReplyOnce, "") }, want: ErrPermissionNotFound},
		{name: "permission id", call: func(ctx context.Context, c *Client) error { return c.ReplyPermission(ctx, "../x", ReplyOnce, "") }, want: ErrPermissionNotFound},
		{name: "permission reply", call: func(ctx context.Context, c *Client) error { return c.ReplyPermission(ctx, "per_1", "maybe", "") }, want: ErrInvalid},
		{name: "question", script: script{"GET /global/health": health18, "POST /question/que_1/reject": `404{"_tag":"QuestionNotFoundError"}`}, call: func(ctx context.Context, c *Client) error { return c.RejectQuestion(ctx, "que_1") }, want: ErrQuestionNotFound},
		{name: "question, older", script: script{"GET /global/health": health12, "GET /question": `[]`}, call: func(ctx context.Context, c *Client) error { return c.AnswerQuestion(ctx, "que_1", nil) }, want: ErrQuestionNotFound},
		{name: "MCP server", script: script{"POST /mcp/space/connect": `404{"_tag":"McpServerNotFoundError"}`}, call: func(ctx context.Context, c *Client) error { return c.ConnectMCP(ctx, "space") }, want: ErrMCPServerNotFound},
		{name: "MCP url", call: func(ctx context.Context, c *Client) error {
			_, err := c.AddMCP(ctx, "space", MCPRemote{URL: "ftp://x"})
			return err
		}, want: ErrInvalid},
		{name: "MCP answer", script: script{"POST /mcp": `{}`}, call: func(ctx context.Context, c *Client) error {
			_, err := c.AddMCP(ctx, "space", MCPRemote{URL: "http://x/mcp"})
			return err
		}, want: ErrUnexpectedReply},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := clientOf(t, tt.script, &ClientOptions{MaxReplyBytes: 4000})
			err := tt.call(t.Context(), c)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error = %v, want %v with %q", err, tt.want, tt.text)
			}
			if err != nil && len(err.Error()) > 2000 {
				t.Errorf("error has %d bytes, want it bounded", len(err.Error()))
			}
		})
	}
}

func TestFailedTurnKeepsItsMessage(t *testing.T) {
	t.Parallel()
	c := clientOf(t, script{"POST /session/ses_1/message": modelFailure("MessageAbortedError", "0")}, nil)
	m, err := c.Prompt(t.Context(), "ses_1", PromptParams{Text: "x"})
	if !errors.Is(err, ErrAborted) || m.ID != "msg_2" || m.Text() != "part of it" {
		t.Errorf("Prompt() = %q %q, %v, want the message beside ErrAborted", m.ID, m.Text(), err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	c, err := NewClient("http://127.0.0.1:9", &ClientOptions{Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Health(t.Context())
	if !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "secret") {
		t.Errorf("Health() = %v, want ErrUnreachable without the password", err)
	}
	if _, err := c.Events(t.Context(), nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("Events() = %v, want ErrUnreachable", err)
	}
}

func TestCallsEnd(t *testing.T) {
	t.Parallel()
	hanging := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c := clientOf(t, hanging, &ClientOptions{CallTimeout: 20 * time.Millisecond})
	if _, err := c.Health(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "no answer within") {
		t.Errorf("Health() = %v, want ErrUnreachable", err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := c.Prompt(ctx, "ses_1", PromptParams{Text: "x"}); !errors.Is(err, cause) {
		t.Errorf("Prompt() = %v, want the context's cause", err)
	}
}

// TestRequests holds what is sent, byte for byte, since the order of keys means something to the server.
func TestRequests(t *testing.T) {
	t.Parallel()
	type sent struct{ Line, Auth, Body string }
	requests := make(chan sent, 10)
	c := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		if r.URL.Path != "/global/health" {
			requests <- sent{Line: r.Method + " " + r.URL.RequestURI(), Auth: user + ":" + password, Body: string(body)}
		}
		switch r.URL.Path {
		case "/global/health":
			reply(w, 200, health18)
		case "/session":
			reply(w, 200, `{"id":"ses_1"}`)
		case "/mcp":
			reply(w, 200, `{"space":{"status":"failed","error":"no"}}`)
		default:
			reply(w, 200, `{"info":{"id":"msg_1","role":"user"},"parts":[]}`)
		}
	}), &ClientOptions{Password: "pw"}).In("/a dir")
	tests := []struct {
		name string
		call func(ctx context.Context) error
		want sent
	}{
		{
			name: "create",
			call: func(ctx context.Context) error {
				_, err := c.CreateSession(ctx, NewSession{Title: "t", ParentID: "ses_0", Permission: []Rule{{Permission: "*", Action: Deny}, {Permission: "a", Pattern: "b", Action: Ask}}})
				return err
			},
			want: sent{Line: "POST /session?directory=%2Fa+dir", Body: `{"parentID":"ses_0","permission":[{"permission":"*","pattern":"*","action":"deny"},{"permission":"a","pattern":"b","action":"ask"}],"title":"t"}`},
		},
		{
			name: "prompt",
			call: func(ctx context.Context) error {
				_, err := c.Prompt(ctx, "ses_1", PromptParams{
					Text: "hi", Files: []File{{MIME: "text/plain", URL: "file:///x", Name: "x"}}, Model: Model{"p", "m"}, Agent: "build", System: "s",
					Tools: []ToolSwitch{{Name: "z*", On: false}, {Name: "a", On: true}}, Variant: "high", NoReply: true, Schema: json.RawMessage(`{"type":"object"}`),
				})
				return err
			},
			want: sent{
				Line: "POST /session/ses_1/message?directory=%2Fa+dir",
				Body: `{"parts":[{"type":"text","text":"hi"},{"type":"file","mime":"text/plain","url":"file:///x","filename":"x"}],"model":{"providerID":"p","modelID":"m"},"agent":"build","system":"s","tools":{"z*":false,"a":true},"variant":"high","format":{"schema":{"type":"object"},"type":"json_schema"},"noReply":true}`,
			},
		},
		{
			name: "smallest prompt", call: func(ctx context.Context) error { return c.PromptAsync(ctx, "ses_1", PromptParams{Text: "hi"}) },
			want: sent{Line: "POST /session/ses_1/prompt_async?directory=%2Fa+dir", Body: `{"parts":[{"type":"text","text":"hi"}]}`},
		},
		{
			name: "reject", call: func(ctx context.Context) error { return c.ReplyPermission(ctx, "per_1", ReplyReject, "no") },
			want: sent{Line: "POST /permission/per_1/reply?directory=%2Fa+dir", Body: `{"message":"no","reply":"reject"}`},
		},
		{
			name: "answer", call: func(ctx context.Context) error { return c.AnswerQuestion(ctx, "que_1", [][]string{{"B"}}) },
			want: sent{Line: "POST /question/que_1/reply?directory=%2Fa+dir", Body: `{"answers":[["B"]]}`},
		},
		{
			name: "dismiss", call: func(ctx context.Context) error { return c.RejectQuestion(ctx, "que_1") },
			want: sent{Line: "POST /question/que_1/reject?directory=%2Fa+dir"},
		},
		{
			name: "add MCP",
			call: func(ctx context.Context) error {
				status, err := c.AddMCP(ctx, "space", MCPRemote{URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"Authorization": "Bearer t"}, Timeout: 5 * time.Second})
				if status != (MCPStatus{State: MCPFailed, Error: "no"}) {
					t.Errorf("AddMCP() = %+v", status)
				}
				return err
			},
			want: sent{Line: "POST /mcp?directory=%2Fa+dir", Body: `{"config":{"enabled":true,"headers":{"Authorization":"Bearer t"},"oauth":false,"timeout":5000,"type":"remote","url":"http://127.0.0.1:1/mcp"},"name":"space"}`},
		},
		{
			name: "disconnect MCP", call: func(ctx context.Context) error { return c.DisconnectMCP(ctx, "space") },
			want: sent{Line: "POST /mcp/space/disconnect?directory=%2Fa+dir"},
		},
	}
	for _, tt := range tests { //nolint:paralleltest // The requests are told apart by their order.
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.call(t.Context()); err != nil {
				t.Fatal(err)
			}
			tt.want.Auth = "opencode:pw"
			if diff := cmp.Diff(tt.want, <-requests); diff != "" {
				t.Errorf("request differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPromptIsChecked(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]PromptParams{
		"Text": {}, "Model": {Text: "x", Model: Model{ProviderID: "p"}}, "Schema": {Text: "x", Schema: json.RawMessage("{")},
		"Files": {Files: []File{{URL: "x"}}}, "Tools": {Text: "x", Tools: []ToolSwitch{{On: true}}},
	} {
		c := clientOf(t, script{}, nil)
		if _, err := c.Prompt(t.Context(), "ses_1", p); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("Prompt(%+v) = %v, want ErrInvalid naming %s", p, err, name)
		}
	}
}

func TestNewClientRefuses(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "127.0.0.1:80", "ftp://h", "http://", "http://u:p@h", "http://%zz"} {
		if _, err := NewClient(base, nil); !errors.Is(err, ErrInvalid) {
			t.Errorf("NewClient(%q) = %v, want ErrInvalid", base, err)
		}
	}
	for _, opts := range []ClientOptions{{CallTimeout: -1}, {MaxReplyBytes: -1}} {
		if _, err := NewClient("http://h", &opts); !errors.Is(err, ErrInvalid) {
			t.Errorf("NewClient(%+v) = %v, want ErrInvalid", opts, err)
		}
	}
}

// TestAnswersOfAnOldTurn makes the client page back, with turns of many steps around.
func TestAnswersOfAnOldTurn(t *testing.T) {
	t.Parallel()
	var all []map[string]any
	add := func(id, role, parent string) {
		all = append(all, map[string]any{"info": map[string]any{"id": id, "role": role, "parentID": parent}, "parts": []any{}})
	}
	add("msg_old", "user", "")
	add("msg_old_1", "assistant", "msg_old")
	add("msg_old_2", "assistant", "msg_old")
	for range 100 {
		add("msg_u", "user", "")
		add("msg_a", "assistant", "msg_u")
	}
	c := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit := len(all)
		if _, err := strconvAtoi(r.URL.Query().Get("limit"), &limit); err != nil {
			t.Error(err)
		}
		page, _ := json.Marshal(all[max(len(all)-limit, 0):])
		reply(w, 200, string(page))
	}), nil)
	answers, err := c.Answers(t.Context(), "ses_1", "msg_old")
	if err != nil || len(answers) != 2 || answers[0].ID != "msg_old_1" || answers[1].ID != "msg_old_2" {
		t.Errorf("Answers() = %+v, %v, want the two of the old turn", answers, err)
	}
	if _, err := c.Answers(t.Context(), "ses_1", "msg_never"); !errors.Is(err, ErrMessageNotFound) {
		t.Errorf("Answers() of an unknown message = %v", err)
	}
}

func strconvAtoi(text string, n *int) (int, error) {
	err := json.Unmarshal([]byte(text), n)
	return *n, err
}

func TestParseModel(t *testing.T) {
	t.Parallel()
	got, err := ParseModel("openrouter/vendor/model")
	if err != nil || got != (Model{"openrouter", "vendor/model"}) || got.String() != "openrouter/vendor/model" {
		t.Errorf("ParseModel() = %v, %v", got, err)
	}
	for _, text := range []string{"", "x", "/x", "x/"} {
		if _, err := ParseModel(text); !errors.Is(err, ErrInvalid) {
			t.Errorf("ParseModel(%q) = %v, want ErrInvalid", text, err)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"1.18.33": false, "1.17.0": false, "1.16.9": true, "1.2.27": true, "0.15.0": true, "2.0.0-beta": false, "strange": true, "": true, "1.x": true} {
		if got := parseVersion(text).quiet(); got != want {
			t.Errorf("parseVersion(%q).quiet() = %t, want %t", text, got, want)
		}
	}
}
