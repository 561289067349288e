package opencode

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// fakeEnv makes the test binary play `opencode serve` in the way that its value names.
const fakeEnv = "OPENCODE_TEST_SERVER"

// playServer is an OpenCode that does one thing wrong, or none.
func playServer(mode string) int {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	port := flags.Int("port", 0, "")
	host := flags.String("hostname", "", "")
	if len(os.Args) < 2 || os.Args[1] != "serve" || flags.Parse(os.Args[2:]) != nil {
		fmt.Fprintln(os.Stderr, "bad arguments:", os.Args)
		return 2
	}
	switch mode {
	case "fails":
		fmt.Fprintln(os.Stderr, "config is broken: no such key")
		return 7
	case "silent":
		hang()
	case "once-taken":
		// The first start finds its port taken, the second does not.
		marker := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "tried")
		if _, err := os.Stat(marker); err != nil {
			_ = os.WriteFile(marker, nil, 0o600)
			fmt.Println("Error: Unexpected error / ServeError")
			return 1
		}
	case "always-taken":
		fmt.Println("Error: Unexpected error / ServeError")
		return 1
	case "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprintf("%s:%d", *host, *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("a line before")
	fmt.Printf("opencode server listening on http://%s\n", listener.Addr())
	err = http.Serve(listener, fakeRoutes(mode)) //nolint:gosec // A test's server on loopback.
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func hang() {
	for {
		time.Sleep(time.Hour) //nolint:forbidigo // It is there to hang.
	}
}

func fakeRoutes(mode string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /global/health", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, `{"healthy":true,"version":"1.18.33"}`)
	})
	mux.HandleFunc("GET /env", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "[%q]", os.Environ())
	})
	mux.HandleFunc("GET /session/status", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{"ses_1":{"type":"busy"}}`) })
	mux.HandleFunc("POST /session/ses_1/abort", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(os.Stderr, "aborted ses_1")
		reply(w, 200, "true")
	})
	mux.HandleFunc("POST /session", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{"id":"ses_1"}`) })
	mux.HandleFunc("POST /global/dispose", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, "true") })
	mux.HandleFunc("GET /session/ses_1", func(http.ResponseWriter, *http.Request) {
		if mode == "dies" {
			fmt.Fprintln(os.Stderr, "segmentation fault, or so")
			os.Exit(139)
		}
		select {}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		if !ok || user != os.Getenv("OPENCODE_SERVER_USERNAME") || password != os.Getenv("OPENCODE_SERVER_PASSWORD") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// fakeServer starts the test binary as a server of that mode.
func fakeServer(t *testing.T, mode string, opts ServerOptions) (*Server, error) {
	t.Helper()
	opts.Env = append(opts.Env, fakeEnv+"="+mode)
	s, err := StartServer(t.Context(), ServerParams{Path: os.Args[0], Dir: t.TempDir(), ConfigHome: t.TempDir()}, &opts)
	if err == nil {
		t.Cleanup(func() {
			if err := s.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}
