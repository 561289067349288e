package space

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"agentd/actors"
	"agentd/messages"
	"agentd/presets"
	"agentd/presets/mcp"
	"agentd/providers/opencode"
	"agentd/testkit"
)

// doc is a JSON object.
type doc = map[string]any

// fake is an OpenCode that does what a test says. Its sessions, messages and events look like those of version 1.18.
type fake struct {
	t      *testing.T
	server *httptest.Server
	client *opencode.Client
	died   chan struct{}
	cause  error

	mu       sync.Mutex
	number   int
	sessions map[string][]doc // messages by session
	busy     map[string]bool
	streams  map[chan string]context.CancelFunc
	bound    *mcp.Turn
	requests []string
	prompts  []doc
	// answers replace the answer to a request, once each, by "METHOD path" with "ses" for the id.
	answers map[string][]int
	// play is what happens after a prompt, on a goroutine of its own.
	play  func(*play)
	plays sync.WaitGroup
	// cancelCalls ends the calls of ours that are under way, as OpenCode does when it aborts.
	cancelCalls context.CancelFunc
	// onAbort is called for each abort.
	onAbort func(session string)
	// hold, if it is there, holds every prompt back until it is closed.
	hold chan struct{}
	// back, if it is there, holds every stream of events back until it is closed.
	back chan struct{}
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{
		t: t, died: make(chan struct{}), sessions: map[string][]doc{}, busy: map[string]bool{}, streams: map[chan string]context.CancelFunc{},
		answers: map[string][]int{},
	}
	f.server = httptest.NewServer(f.routes())
	var err error
	if f.client, err = opencode.NewClient(f.server.URL, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.plays.Wait()
		f.breakStreams()
		f.client.Close()
		f.server.Close()
	})
	return f
}

func (f *fake) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /global/health", func(w http.ResponseWriter, _ *http.Request) { answer(w, doc{"healthy": true, "version": "1.18.33"}) })
	mux.HandleFunc("GET /event", f.events)
	mux.HandleFunc("POST /session", func(w http.ResponseWriter, _ *http.Request) {
		id := f.id("ses_")
		f.mu.Lock()
		f.sessions[id] = nil
		f.mu.Unlock()
		answer(w, doc{"id": id})
	})
	mux.HandleFunc("GET /session/status", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		out := doc{}
		for id := range f.busy {
			out[id] = doc{"type": "busy"}
		}
		answer(w, out)
	})
	mux.HandleFunc("GET /session/{id}", f.known(func(w http.ResponseWriter, id string, _ *http.Request) { answer(w, doc{"id": id}) }))
	mux.HandleFunc("GET /session/{id}/message", f.known(f.messages))
	mux.HandleFunc("POST /session/{id}/prompt_async", f.known(f.prompt))
	mux.HandleFunc("POST /session/{id}/abort", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		hook := f.onAbort
		if f.cancelCalls != nil {
			f.cancelCalls()
		}
		f.mu.Unlock()
		if hook != nil {
			hook(r.PathValue("id"))
		}
		answer(w, true)
	})
	mux.HandleFunc("GET /config/providers", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, doc{"providers": []doc{{"id": "fake", "models": doc{"fake-1": doc{}}}}})
	})
	mux.HandleFunc("GET /permission", func(w http.ResponseWriter, _ *http.Request) { answer(w, []doc{}) })
	mux.HandleFunc("GET /question", func(w http.ResponseWriter, _ *http.Request) { answer(w, []doc{}) })
	mux.HandleFunc("POST /permission/{id}/reply", f.noted)
	mux.HandleFunc("POST /question/{id}/reply", f.noted)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := f.note(r); status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"name":"Scripted","data":{"message":"as the test says"}}`)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// note remembers a request, and returns the status that the test wants for it.
func (f *fake) note(r *http.Request) int {
	name := r.Method + " " + r.URL.Path
	for part := range strings.SplitSeq(r.URL.Path, "/") {
		if strings.HasPrefix(part, "ses_") {
			name = strings.Replace(name, part, "ses", 1)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, name)
	if next := f.answers[name]; len(next) > 0 {
		f.answers[name] = next[1:]
		return next[0]
	}
	return 0
}

// count is how many requests of that name came.
func (f *fake) count(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, r := range f.requests {
		if r == name {
			n++
		}
	}
	return n
}

func (f *fake) noted(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.requests = append(f.requests, r.URL.Path+" "+string(body))
	f.mu.Unlock()
	answer(w, true)
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

func (f *fake) known(handle func(w http.ResponseWriter, id string, r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		f.mu.Lock()
		_, ok := f.sessions[id]
		f.mu.Unlock()
		if !ok {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"name":"NotFoundError","data":{"message":"Session not found"}}`)
			return
		}
		handle(w, id, r)
	}
}

func (f *fake) messages(w http.ResponseWriter, id string, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.sessions[id]
	if limit, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && limit < len(list) {
		list = list[len(list)-limit:]
	}
	if list == nil {
		list = []doc{}
	}
	answer(w, list)
}

func (f *fake) prompt(w http.ResponseWriter, id string, r *http.Request) {
	var body doc
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		f.t.Error(err)
	}
	f.mu.Lock()
	hold, scene := f.hold, f.play
	f.prompts = append(f.prompts, body)
	f.mu.Unlock()
	if hold != nil {
		<-hold
	}
	w.WriteHeader(http.StatusNoContent)
	if scene == nil {
		return
	}
	f.plays.Go(func() {
		p := &play{f: f, session: id}
		f.setBusy(id, true)
		p.user()
		scene(p)
	})
}

func (f *fake) setBusy(session string, busy bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if busy {
		f.busy[session] = true
	} else {
		delete(f.busy, session)
	}
}

func (f *fake) events(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stream := make(chan string, 1000)
	f.mu.Lock()
	back := f.back
	f.mu.Unlock()
	if back != nil {
		<-back
	}
	f.mu.Lock()
	f.streams[stream] = cancel
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.streams, stream)
		f.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	line := `{"type":"server.connected","properties":{}}`
	for {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", line); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		select {
		case line = <-stream:
		case <-ctx.Done():
			return
		}
	}
}

// breakStreams cuts every stream of events.
func (f *fake) breakStreams() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, cancel := range f.streams {
		cancel()
	}
}

// breakFor cuts every stream of events, and lets none come back until the channel that it returns is closed.
func (f *fake) breakFor() chan struct{} {
	f.mu.Lock()
	f.back = make(chan struct{})
	f.mu.Unlock()
	f.breakStreams()
	return f.back
}

// streaming is how many streams of events there are.
func (f *fake) streaming() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.streams)
}

// emit tells every subscriber of an event.
func (f *fake) emit(kind string, properties doc) {
	text, err := json.Marshal(doc{"type": kind, "properties": properties})
	if err != nil {
		f.t.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for stream := range f.streams {
		stream <- string(text)
	}
}

func (f *fake) id(prefix string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.number++
	return fmt.Sprintf("%s%06d", prefix, f.number)
}

// reborn is another life of OpenCode, with the same sessions.
func (f *fake) reborn() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.died = make(chan struct{})
}

// kill ends the fake's life as far as the agent can see.
func (f *fake) kill(cause error) {
	f.cause = cause
	close(f.died)
	f.breakStreams()
}

// link is a session's way to a fake.
type fakeLink struct {
	*fake
	tools *mcp.ToolServer
	life  chan struct{}
}

var _ link = fakeLink{}

func (l fakeLink) Client() *opencode.Client { return l.client }

func (fakeLink) ToolName(name string) string { return "space_" + name }

func (fakeLink) LocalName(tool string) (string, bool) { return strings.CutPrefix(tool, "space_") }

func (fakeLink) Knows(name string) bool { return name == "space_echo" || name == "space_shell_run" }

func (l fakeLink) Died() <-chan struct{} { return l.life }

func (l fakeLink) Cause() error { return l.cause }

func (l fakeLink) Bind(turn mcp.Turn) (*mcp.Binding, error) {
	l.mu.Lock()
	l.bound = &turn
	l.mu.Unlock()
	return l.tools.Bind(turn)
}

// stage is a runtime with the agent on a fake.
type stage struct {
	*testkit.Runtime
	*fake
	agent *agent
	id    messages.SessionID
	// opened is how many links were asked for.
	opened int
	// ran are the calls of the tool space_echo.
	ran *[]string
}

// newStage starts a runtime with a session, the preset "plain" with the tool space_echo, and the agent.
func newStage(t *testing.T, opts Options) *stage {
	t.Helper()
	s := &stage{fake: newFake(t), ran: &[]string{}}
	manager, err := presets.NewManager(nil)
	if err != nil {
		t.Fatal(err)
	}
	err = manager.RegisterAdapter(presets.Adapter{
		ID: "plain.echo", Name: "space_echo", Description: "Says it again.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Make: func(presets.Env) (presets.RunFunc, error) {
			return func(ctx context.Context, arguments json.RawMessage) (presets.Result, error) {
				s.mu.Lock()
				*s.ran = append(*s.ran, string(arguments))
				s.mu.Unlock()
				if strings.Contains(string(arguments), "wait") {
					<-ctx.Done()
					return presets.Result{}, context.Cause(ctx)
				}
				return presets.Text("echo " + string(arguments)), nil
			}, nil
		},
	})
	if err == nil {
		err = manager.RegisterPreset(presets.Preset{
			Name: "plain", Risk: messages.RiskNormal, ToolIDs: []string{"plain.echo"}, Contexts: []presets.Pattern{{}}, Prompt: "Echo what you like.",
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Runtime = testkit.NewRuntime(t, &testkit.Options{Presets: manager})
	opts.Model = opencode.Model{ProviderID: "fake", ModelID: "fake-1"}
	opts.keepFor = cmp.Or(opts.keepFor, -1)
	a, err := newAgent(func(ctx context.Context, caller presets.Caller) (link, error) {
		caller.TurnID = ""
		tools, err := mcp.NewToolServer(s.Tools(), caller, nil)
		if err != nil {
			return nil, err
		}
		t.Cleanup(tools.Stop)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opened++
		return fakeLink{s.fake, tools, s.died}, tools.Start(ctx)
	}, opts)
	if err != nil {
		t.Fatal(err)
	}
	s.agent = a
	if err := s.Agents().Register(ID, func() (actors.Agent, error) { return a, nil }); err != nil {
		t.Fatal(err)
	}
	s.id = s.Create(ID, "")
	return s
}
