package opencode

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestServerStartsAndStops(t *testing.T) {
	t.Parallel()
	s, err := fakeServer(t, "good", ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Version() != "1.18.33" || !strings.HasPrefix(s.URL(), "http://127.0.0.1:") || s.PID() == 0 || s.Err() != nil {
		t.Errorf("server = %q %q %d %v", s.Version(), s.URL(), s.PID(), s.Err())
	}
	if _, err := s.Client().CreateSession(t.Context(), NewSession{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Done():
	default:
		t.Error("Done is open after Stop")
	}
	if !errors.Is(s.Err(), ErrServerExited) || !strings.Contains(s.output.String(), "aborted ses_1") {
		t.Errorf("Err() = %v, output %q, want exited, the busy session aborted", s.Err(), s.output)
	}
	if _, err := s.Client().Health(t.Context()); !errors.Is(err, ErrServerExited) {
		t.Errorf("Health() after Stop = %v, want ErrServerExited", err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("second Stop() = %v", err)
	}
}

func TestServerThatDoesNotStart(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode string
		want error
		text string
	}{
		{mode: "fails", want: ErrServerExited, text: "exit status 7; it said: config is broken"},
		{mode: "always-taken", want: ErrServerExited, text: "port is taken"},
		{mode: "silent", want: ErrNotReady, text: "waited"},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			opts := ServerOptions{}
			if errors.Is(tt.want, ErrNotReady) {
				opts.StartTimeout = 300 * time.Millisecond
			}
			_, err := fakeServer(t, tt.mode, opts)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("StartServer() = %v, want %v with %q", err, tt.want, tt.text)
			}
		})
	}
}

func TestServerTriesAnotherPort(t *testing.T) {
	t.Parallel()
	if _, err := fakeServer(t, "once-taken", ServerOptions{}); err != nil {
		t.Error(err)
	}
}

func TestStartServerRefuses(t *testing.T) {
	t.Parallel()
	good := ServerParams{Path: os.Args[0], Dir: t.TempDir(), ConfigHome: t.TempDir()}
	with := func(change func(*ServerParams)) ServerParams {
		p := good
		change(&p)
		return p
	}
	tests := []struct {
		name   string
		params ServerParams
		opts   ServerOptions
		want   error
		text   string
	}{
		{name: "no path", params: with(func(p *ServerParams) { p.Path = "" }), want: ErrInvalid, text: "Path"},
		{name: "relative dir", params: with(func(p *ServerParams) { p.Dir = "x" }), want: ErrInvalid, text: "Dir"},
		{name: "relative config", params: with(func(p *ServerParams) { p.ConfigHome = "" }), want: ErrInvalid, text: "ConfigHome"},
		{name: "not installed", params: with(func(p *ServerParams) { p.Path = "opencode-that-is-not-there" }), want: ErrNotInstalled, text: "opencode-that-is-not-there"},
		{name: "password", params: good, opts: ServerOptions{Env: []string{"OPENCODE_SERVER_PASSWORD=x"}}, want: ErrInvalid, text: "password"},
		{name: "user name", params: good, opts: ServerOptions{Env: []string{"OPENCODE_SERVER_USERNAME=x"}}, want: ErrInvalid, text: "password"},
		{name: "start timeout", params: good, opts: ServerOptions{StartTimeout: -1}, want: ErrInvalid, text: "StartTimeout"},
		{name: "stop timeout", params: good, opts: ServerOptions{StopTimeout: -1}, want: ErrInvalid, text: "StopTimeout"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := StartServer(t.Context(), tt.params, &tt.opts)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("StartServer() = %v, want %v naming %s", err, tt.want, tt.text)
			}
		})
	}
}

// TestServerPathMayBeRelative holds that a path is looked up from here, though the server begins in another folder.
func TestServerPathMayBeRelative(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Rel(here, os.Args[0])
	if err != nil {
		t.Skip("the test binary lies on another volume")
	}
	if !strings.ContainsRune(path, filepath.Separator) {
		path = "." + string(filepath.Separator) + path
	}
	opts := &ServerOptions{Env: []string{fakeEnv + "=good"}}
	s, err := StartServer(t.Context(), ServerParams{Path: path, Dir: t.TempDir(), ConfigHome: t.TempDir()}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestServerThatDiesIsNoticed(t *testing.T) {
	t.Parallel()
	s, err := fakeServer(t, "dies", ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The call that is under way gets the cause, not a broken connection.
	_, err = s.Client().Session(t.Context(), "ses_1")
	if !errors.Is(err, ErrServerExited) || !strings.Contains(err.Error(), "segmentation fault") {
		t.Errorf("Session() = %v, want ErrServerExited with the last words", err)
	}
	<-s.Done()
	if !errors.Is(s.Err(), ErrServerExited) || !strings.Contains(s.Err().Error(), "exit status 139") {
		t.Errorf("Err() = %v", s.Err())
	}
}

func TestServerThatIsKilledIsNoticed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("signals are unix's")
	}
	s, err := fakeServer(t, "good", ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(s.PID())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Done():
	case <-time.After(30 * time.Second):
		t.Fatal("the death was not noticed")
	}
	if !strings.Contains(s.Err().Error(), "killed") {
		t.Errorf("Err() = %v, want the signal", s.Err())
	}
}

func TestStubbornServerIsKilled(t *testing.T) {
	t.Parallel()
	s, err := fakeServer(t, "stubborn", ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Stop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Stop() with an ended context = %v, want its cause", err)
	}
	select {
	case <-s.Done():
	case <-time.After(30 * time.Second):
		t.Fatal("it lives on")
	}
}

func TestServerEnvironment(t *testing.T) {
	t.Setenv("SOME_API_KEY", "secret")
	t.Setenv("NO_PROXY", "example.org")
	root := t.TempDir()
	env := environment(ServerParams{ConfigHome: "/config"}, ServerOptions{IsolateIn: root, Env: []string{"MINE=1"}}, "pw")
	last := map[string]string{}
	for _, entry := range env {
		key, value, _ := strings.Cut(entry, "=")
		last[key] = value
	}
	for key, want := range map[string]string{
		"XDG_CONFIG_HOME": "/config", "XDG_DATA_HOME": root + "/data", "HOME": root + "/home", "MINE": "1",
		"OPENCODE_SERVER_PASSWORD": "pw", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
		"npm_config_registry": deadRegistry, "NO_PROXY": "example.org,127.0.0.1,localhost,::1", "SOME_API_KEY": "",
	} {
		if got := strings.ReplaceAll(last[key], `\`, "/"); got != strings.ReplaceAll(want, `\`, "/") {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	online := strings.Join(environment(ServerParams{}, ServerOptions{Online: true, AllowNpm: true}, ""), "\n")
	for _, key := range []string{"MODELS_FETCH", "DEFAULT_PLUGINS", "npm_config_registry"} {
		if strings.Contains(online, key) {
			t.Errorf("an online server has %s set", key)
		}
	}
}
