package bridge_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/providers/opencode"
	"agentd/providers/opencode/bridge"
)

// fakeEnv makes the test binary play `opencode serve` in the way that its value names.
const fakeEnv = "BRIDGE_TEST_SERVER"

// playServer is an OpenCode that knows nothing but MCP servers: it connects to those that are added, lists their tools and calls them.
func playServer(mode string) int {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	port := flags.Int("port", 0, "")
	host := flags.String("hostname", "", "")
	if len(os.Args) < 2 || os.Args[1] != "serve" || flags.Parse(os.Args[2:]) != nil {
		fmt.Fprintln(os.Stderr, "bad arguments:", os.Args)
		return 2
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "started-"+strconv.Itoa(os.Getpid())), []byte(strings.Join(os.Environ(), "\n")), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if mode == "silent" {
		for {
			time.Sleep(time.Hour) //nolint:forbidigo // It is there to hang.
		}
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprintf("%s:%d", *host, *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("opencode server listening on http://%s\n", listener.Addr())
	fake := &fakeOpenCode{mode: mode, sessions: map[string]*sdk.ClientSession{}}
	err = http.Serve(listener, fake.routes()) //nolint:gosec // A test's server on loopback.
	fmt.Fprintln(os.Stderr, err)
	return 1
}

type fakeOpenCode struct {
	mode string

	mu       sync.Mutex
	sessions map[string]*sdk.ClientSession // by directory
}

func (f *fakeOpenCode) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /global/health", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "hang")); err == nil {
			select {}
		}
		reply(w, `{"healthy":true,"version":"1.18.33"}`)
	})
	mux.HandleFunc("POST /global/dispose", func(w http.ResponseWriter, _ *http.Request) { reply(w, "true") })
	mux.HandleFunc("GET /session/status", func(w http.ResponseWriter, _ *http.Request) { reply(w, "{}") })
	mux.HandleFunc("POST /mcp", f.add)
	mux.HandleFunc("POST /mcp/{name}/disconnect", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if s := f.sessions[directory(r)]; s != nil {
			_ = s.Close()
		}
		reply(w, "true")
	})
	mux.HandleFunc("GET /agent", f.tools) // The list of agents, misused for that of tools, so that the package's client can ask.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		if !ok || user != os.Getenv("OPENCODE_SERVER_USERNAME") || password != os.Getenv("OPENCODE_SERVER_PASSWORD") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

type authorized struct{ headers map[string]string }

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	for key, value := range a.headers {
		r.Header.Set(key, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (f *fakeOpenCode) add(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Name   string `json:"name"`
		Config struct {
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
			Timeout int64             `json:"timeout"`
		} `json:"config"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if f.mode == "deaf" {
		reply(w, `{"space":{"status":"failed","error":"SSE error: Unable to connect"}}`)
		return
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "fake", Version: "1"}, nil)
	options := &sdk.ClientSessionOptions{}
	if f.mode != "modern" {
		options.ProtocolVersion = "2025-11-25" // As OpenCode does.
	}
	session, err := client.Connect(context.Background(), &sdk.StreamableClientTransport{
		Endpoint: body.Config.URL, HTTPClient: &http.Client{Transport: authorized{body.Config.Headers}},
	}, options)
	if err != nil {
		reply(w, fmt.Sprintf(`{%q:{"status":"failed","error":%q}}`, body.Name, err.Error()))
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if last := f.sessions[directory(r)]; last != nil {
		_ = last.Close()
	}
	f.sessions[directory(r)] = session
	reply(w, fmt.Sprintf(`{%q:{"status":"connected"}}`, body.Name))
}

// tools lists the tools that a model would see in a directory, after calling the first one.
func (f *fakeOpenCode) tools(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	session := f.sessions[directory(r)]
	f.mu.Unlock()
	type named struct {
		Name string `json:"name"`
	}
	names := []named{}
	if session != nil {
		list, err := session.ListTools(r.Context(), nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for _, tool := range list.Tools {
			names = append(names, named{bridge.ServerName + "_" + tool.Name})
		}
		if len(list.Tools) > 0 {
			_, _ = session.CallTool(r.Context(), &sdk.CallToolParams{Name: list.Tools[0].Name})
		}
	}
	text, _ := json.Marshal(names)
	reply(w, string(text))
}

func directory(r *http.Request) string {
	if dir := r.URL.Query().Get("directory"); dir != "" {
		return dir
	}
	return r.Header.Get("x-opencode-directory")
}

func reply(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(body))
}

// fakeOptions run the test binary as OpenCode.
func fakeOptions(mode string) *bridge.Options {
	return &bridge.Options{Executable: os.Args[0], Server: opencode.ServerOptions{Env: []string{fakeEnv + "=" + mode}}}
}

// starts returns the environments of the fake OpenCodes that were started.
func (w *world) starts() []string {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.home, "config", "started-*"))
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

// hang makes the fake OpenCode stop answering, or answer again.
func (w *world) hang(on bool) {
	w.t.Helper()
	path := filepath.Join(w.home, "config", "hang")
	err := os.Remove(path)
	if on {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}
