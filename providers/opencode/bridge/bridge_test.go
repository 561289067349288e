package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/mcp"
	"agentd/providers/opencode"
	"agentd/providers/opencode/bridge"
)

const (
	ann = messages.SessionID("agt-ses-ann")
	ben = messages.SessionID("agt-ses-ben")
)

// requestTool is the surface's own tool as OpenCode knows it.
const requestTool = "space_" + presets.RequestToolName

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		surface *presets.Surface
		home    string
		opts    bridge.Options
		want    string
	}{
		"no surface":       {nil, w.home, bridge.Options{}, "surface"},
		"a relative home":  {w.surface, "home", bridge.Options{}, "Home"},
		"provider no JSON": {w.surface, w.home, bridge.Options{Provider: json.RawMessage(`{"a"`)}, "Provider"},
		"provider a list":  {w.surface, w.home, bridge.Options{Provider: json.RawMessage(`[]`)}, "Provider"},
		"tool timeout":     {w.surface, w.home, bridge.Options{ToolTimeout: -1}, "ToolTimeout"},
		"health timeout":   {w.surface, w.home, bridge.Options{HealthTimeout: -1}, "HealthTimeout"},
		"idle timeout":     {w.surface, w.home, bridge.Options{IdleTimeout: -1}, "IdleTimeout"},
	} {
		if _, err := bridge.New(c.surface, bridge.Params{Home: c.home}, &c.opts); !errors.Is(err, bridge.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: New() = %v, want ErrInvalid about %s", name, err, c.want)
		}
	}
	if _, err := bridge.New(w.surface, bridge.Params{Home: w.home}, &bridge.Options{HTTP: mcp.HTTPOptions{Addr: "0.0.0.0:0"}}); !errors.Is(err, mcp.ErrNotLoopback) {
		t.Errorf("New(beyond loopback) = %v, want ErrNotLoopback", err)
	}
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	br := w.started(&bridge.Options{Provider: json.RawMessage(`{"fake":{"npm":"x"}}`)})
	status := br.Status()
	text, err := os.ReadFile(status.ConfigPath)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled", "snapshot": false,
		"permission": map[string]any{"*": "deny", "space_*": "allow"}, "provider": map[string]any{"fake": map[string]any{"npm": "x"}},
		"experimental": map[string]any{"mcp_timeout": float64(bridge.DefaultToolTimeout.Milliseconds())},
	}
	if diff := cmp.Diff(want, doc); diff != "" {
		t.Errorf("opencode.json (-want +got):\n%s", diff)
	}
	if deny, allow := strings.Index(string(text), `"*"`), strings.Index(string(text), `"space_*"`); deny < 0 || allow < deny {
		t.Errorf("the rule that denies stands at %d, the one that allows at %d: the last one counts", deny, allow)
	}
	if info, err := os.Stat(status.ConfigPath); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("opencode.json has mode %v, %v: it may hold keys", info.Mode(), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(status.ConfigPath)); err != nil || len(entries) != 1 {
		t.Errorf("beside opencode.json are %v, %v", entries, err)
	}
	if got, want := br.Env(), []string{"XDG_CONFIG_HOME=" + status.ConfigRoot}; !slices.Equal(got, want) {
		t.Errorf("Env() = %q, want %q", got, want)
	}
	if !strings.HasPrefix(status.ConfigPath, status.ConfigRoot) || status.Host != "127.0.0.1" || status.Port == 0 || !status.Started || status.OpenCode.Running {
		t.Errorf("Status() = %+v", status)
	}
}

func TestStartIsLoudAndLeavesNothing(t *testing.T) {
	t.Parallel()
	t.Run("the port is taken", func(t *testing.T) {
		t.Parallel()
		taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t)
		br := w.bridge(&bridge.Options{HTTP: mcp.HTTPOptions{Addr: taken.Addr().String()}})
		if err := br.Start(t.Context()); err == nil || !strings.Contains(err.Error(), taken.Addr().String()) {
			t.Errorf("Start() = %v, want an error that names the address", err)
		}
		w.untouched(br)
		_ = taken.Close()
		if err := br.Start(t.Context()); err != nil {
			t.Errorf("Start() with the port free again = %v", err)
		}
	})
	for _, blocked := range []string{"work", "config", "config/opencode"} {
		t.Run("a file is in the way of "+blocked, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			obstacle := filepath.Join(w.home, filepath.FromSlash(blocked))
			if err := errors.Join(os.MkdirAll(filepath.Dir(obstacle), 0o700), os.WriteFile(obstacle, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			br := w.bridge(nil)
			if err := br.Start(t.Context()); err == nil || !strings.Contains(err.Error(), obstacle) {
				t.Errorf("Start() = %v, want an error that names %s", err, obstacle)
			}
			var left []string
			_ = filepath.WalkDir(w.home, func(path string, d os.DirEntry, _ error) error {
				if path != obstacle && !strings.HasPrefix(obstacle, path) {
					left = append(left, path)
				}
				return nil
			})
			if len(left) > 0 || br.Status().Started {
				t.Errorf("after the failed start %q are left, Status() = %+v", left, br.Status())
			}
			if err := os.Remove(obstacle); err != nil {
				t.Fatal(err)
			}
			if err := br.Start(t.Context()); err != nil {
				t.Errorf("Start() with the way free = %v", err)
			}
		})
	}
}

// untouched checks that a bridge that did not start has left nothing.
func (w *world) untouched(br *bridge.Bridge) {
	w.t.Helper()
	if _, err := os.Stat(w.home); !errors.Is(err, os.ErrNotExist) {
		w.t.Errorf("the bridge's folder is there: %v", err)
	}
	if status := br.Status(); status.Started || status.Port != 0 {
		w.t.Errorf("Status() = %+v, want nothing started", status)
	}
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	br := w.bridge(fakeOptions("good"))
	if _, err := br.Open(t.Context(), caller(ann)); !errors.Is(err, bridge.ErrNotStarted) {
		t.Errorf("Open() before Start = %v, want ErrNotStarted", err)
	}
	if err := errors.Join(br.Sync(t.Context(), presets.Change{Global: true}), br.Close(t.Context(), ann)); err != nil {
		t.Errorf("Sync and Close before Start: %v, want nothing", err)
	}
	if err := br.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := br.Start(t.Context()); !errors.Is(err, bridge.ErrStarted) {
		t.Errorf("second Start() = %v, want ErrStarted", err)
	}
	if _, err := br.Open(t.Context(), presets.Caller{SessionID: "../evil"}); !errors.Is(err, bridge.ErrInvalid) {
		t.Errorf("Open(../evil) = %v, want ErrInvalid", err)
	}
	for range 2 {
		if err := br.Stop(t.Context()); err != nil {
			t.Errorf("Stop() = %v", err)
		}
	}
	if _, err := br.Open(t.Context(), caller(ann)); !errors.Is(err, bridge.ErrStopped) {
		t.Errorf("Open() after Stop = %v, want ErrStopped", err)
	}
	if err := br.Start(t.Context()); !errors.Is(err, bridge.ErrStopped) {
		t.Errorf("Start() after Stop = %v, want ErrStopped", err)
	}
	if n := len(w.starts()); n != 0 {
		t.Errorf("OpenCode was started %d times, though nobody opened a link", n)
	}
}

func (w *world) seen(link *bridge.Link) []string {
	w.t.Helper()
	names, err := link.Client().Agents(w.t.Context()) // The fake's list of tools.
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func TestTwoSessionsStartOneProcess(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"good", "modern"} { // The lifecycles of MCP: with sessions, and without.
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			testTwoSessions(t, mode)
		})
	}
}

func testTwoSessions(t *testing.T, mode string) {
	t.Helper()
	w := newWorld(t)
	w.override(ben, "extra", presets.OverrideOn)
	w.override(ben, "plain", presets.OverrideOff)
	br := w.started(fakeOptions(mode))
	links := make([]*bridge.Link, 8)
	var group sync.WaitGroup
	for i := range links {
		group.Go(func() {
			session := []messages.SessionID{ann, ben}[i%2]
			link, err := br.Open(t.Context(), caller(session))
			if err != nil {
				t.Error(err)
			}
			links[i] = link
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	if n := len(w.starts()); n != 1 {
		t.Errorf("OpenCode was started %d times, want once", n)
	}
	if links[0] != links[2] || links[1] != links[3] || links[0] == links[1] {
		t.Error("the links of a session differ, or two sessions share one")
	}
	if links[0].Dir() == links[1].Dir() || links[0].Server() != links[1].Server() {
		t.Errorf("the directories are %q and %q, one process %v", links[0].Dir(), links[1].Dir(), links[0].Server() == links[1].Server())
	}
	w.bind(links[0], ann)
	w.bind(links[1], ben)
	if got, want := w.seen(links[0]), []string{requestTool, "space_space_echo"}; !slices.Equal(got, want) {
		t.Errorf("the first session sees %q, want %q", got, want)
	}
	if got, want := w.seen(links[1]), []string{requestTool, "space_space_more"}; !slices.Equal(got, want) {
		t.Errorf("the second session sees %q, want %q", got, want)
	}
	status := br.Status()
	if !status.OpenCode.Running || status.OpenCode.PID != links[0].Server().PID() || status.OpenCode.Version != "1.18.33" {
		t.Errorf("Status().OpenCode = %+v", status.OpenCode)
	}
	want := []bridge.LinkStatus{{SessionID: ann, Dir: links[0].Dir(), Connected: true}, {SessionID: ben, Dir: links[1].Dir(), Connected: true}}
	if mode == "modern" { // It has no sessions, but for the moment of a request.
		for i := range want {
			want[i].Connected = status.Links[i].Connected
		}
	}
	if diff := cmp.Diff(want, status.Links); diff != "" {
		t.Errorf("Status().Links (-want +got):\n%s", diff)
	}

	// A change is seen after a sync, in the session that it touches.
	w.override(ann, "extra", presets.OverrideOn)
	if err := br.Sync(t.Context(), presets.Change{Sessions: []messages.SessionID{ann}}); err != nil {
		t.Error(err)
	}
	if got := w.seen(links[0]); !slices.Contains(got, "space_space_more") {
		t.Errorf("after the change the first session sees %q", got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	link := new(bridge.Link)
	if got := link.ToolName("space_echo"); got != "space_space_echo" {
		t.Errorf("ToolName(space_echo) = %q", got)
	}
	if got, ok := link.LocalName("space_space_echo"); got != "space_echo" || !ok {
		t.Errorf("LocalName(space_space_echo) = %q, %v", got, ok)
	}
	if got, ok := link.LocalName("bash"); ok {
		t.Errorf("LocalName(bash) = %q, true, want false", got)
	}
}

// A tool of ours is known by its name whether the model may use it or not; a name that a model made up is not.
func TestLinkKnows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link := w.open(w.started(fakeOptions("good")), ann)
	for name, want := range map[string]bool{"space_echo": true, "space_more": true, "space_run": true, "space_space_echo": false, "echo": false} {
		if got := link.Knows(name); got != want {
			t.Errorf("Knows(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestDeadOpenCodeIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	br := w.started(fakeOptions("good"))
	first := w.open(br, ann)
	kill(t, first.Server().PID())
	<-first.Server().Done()
	status := br.Status()
	if status.OpenCode.Running || !errors.Is(status.OpenCode.Err, opencode.ErrServerExited) || status.Links[0].Connected {
		t.Errorf("Status() with OpenCode killed = %+v", status)
	}
	second := w.open(br, ann)
	if second == first || second.Server().PID() == first.Server().PID() || len(w.starts()) != 2 {
		t.Errorf("after the kill Open() gave the old link, or started %d processes in all", len(w.starts()))
	}
	w.bind(second, ann)
	if got := w.seen(second); !slices.Contains(got, "space_space_echo") {
		t.Errorf("after the restart the session sees %q", got)
	}
	if !br.Status().Links[0].Connected {
		t.Errorf("Status() = %+v, want it connected", br.Status())
	}
}

func TestLostConnectionIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	br := w.started(fakeOptions("good"))
	link := w.open(br, ann)
	if again := w.open(br, ann); again != link {
		t.Error("a second Open() connected again")
	}
	if err := link.Client().DisconnectMCP(t.Context(), bridge.ServerName); err != nil {
		t.Fatal(err)
	}
	poll(t, "the connection to be gone", func() bool { return !br.Status().Links[0].Connected })
	link = w.open(br, ann)
	w.bind(link, ann)
	if got := w.seen(link); !slices.Contains(got, "space_space_echo") || len(w.starts()) != 1 {
		t.Errorf("after the loss the session sees %q, and OpenCode was started %d times", got, len(w.starts()))
	}
}

func TestHungOpenCodeIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opts := fakeOptions("good")
	opts.HealthTimeout, opts.Server.StopTimeout = 300*time.Millisecond, 100*time.Millisecond
	br := w.started(opts)
	first := w.open(br, ann)
	w.hang(true)
	ctx, cancel := context.WithCancelCause(t.Context())
	errGone := errors.New("gone")
	cancel(errGone)
	if _, err := br.Open(ctx, caller(ann)); !errors.Is(err, errGone) {
		t.Errorf("Open() with a context that has ended = %v, want its cause", err)
	}
	if first.Server().Err() != nil {
		t.Error("a caller that had gone took OpenCode with it")
	}
	// The new one hangs as well until it is told not to, so let the start find it well again.
	done := make(chan error, 1)
	go func() {
		_, err := br.Open(t.Context(), caller(ann))
		done <- err
	}()
	<-first.Server().Done()
	w.hang(false)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := len(w.starts()); n < 2 {
		t.Errorf("OpenCode was started %d times, want a new one", n)
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	t.Run("not installed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		br := w.started(&bridge.Options{Executable: filepath.Join(w.home, "nowhere")})
		if _, err := br.Open(t.Context(), caller(ann)); !errors.Is(err, opencode.ErrNotInstalled) {
			t.Errorf("Open() = %v, want ErrNotInstalled", err)
		}
	})
	t.Run("it cannot reach the tools", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		br := w.started(fakeOptions("deaf"))
		if _, err := br.Open(t.Context(), caller(ann)); !errors.Is(err, bridge.ErrNotConnected) || !strings.Contains(err.Error(), "Unable to connect") {
			t.Errorf("Open() = %v, want ErrNotConnected with OpenCode's reason", err)
		}
		if len(br.Status().Links) != 0 {
			t.Errorf("Status().Links = %+v, want none", br.Status().Links)
		}
	})
	t.Run("stopped while it starts", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		br := w.started(fakeOptions("silent"))
		done := make(chan error, 1)
		go func() {
			_, err := br.Open(t.Context(), caller(ann))
			done <- err
		}()
		poll(t, "the start", func() bool { return len(w.starts()) > 0 })
		if err := br.Stop(t.Context()); err != nil {
			t.Errorf("Stop() = %v", err)
		}
		if err := <-done; !errors.Is(err, bridge.ErrStopped) {
			t.Errorf("Open() = %v, want ErrStopped", err)
		}
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	br := w.started(fakeOptions("good"))
	first := w.open(br, ann)
	w.open(br, ben)
	for range 2 {
		if err := br.Close(t.Context(), ann); err != nil {
			t.Errorf("Close() = %v", err)
		}
	}
	if links := br.Status().Links; len(links) != 1 || links[0].SessionID != ben {
		t.Errorf("Status().Links = %+v, want ben's only", links)
	}
	if _, err := os.Stat(first.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty directory is there after Close: %v", err)
	}
	if again := w.open(br, ann); again == first || again.Server() != first.Server() {
		t.Error("Open() after Close gave the old link, or another process")
	}
	if len(w.starts()) != 1 {
		t.Errorf("OpenCode was started %d times, want once", len(w.starts()))
	}
}

func TestIdleLinksAreClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opts := fakeOptions("good")
	opts.IdleTimeout = time.Nanosecond
	br := w.started(opts)
	linked := func() []messages.SessionID {
		var sessions []messages.SessionID
		for _, link := range br.Status().Links {
			sessions = append(sessions, link.SessionID)
		}
		return sessions
	}
	binding := w.bind(w.open(br, ann), ann)
	w.open(br, ben)
	if diff := cmp.Diff([]messages.SessionID{ann, ben}, linked()); diff != "" {
		t.Errorf("links while a turn of ann is bound (-want +got):\n%s", diff)
	}
	binding.Release()
	<-binding.Done()
	w.open(br, ben)
	if diff := cmp.Diff([]messages.SessionID{ben}, linked()); diff != "" {
		t.Errorf("links after the turn (-want +got):\n%s", diff)
	}
	w.bind(w.open(br, ann), ann)
	if diff := cmp.Diff([]messages.SessionID{ann}, linked()); diff != "" {
		t.Errorf("links when ann is back (-want +got):\n%s", diff)
	}
}

// TestOpenAndCloseAtOnce opens and closes the same sessions from many sides: nothing hangs, and it works at the end.
func TestOpenAndCloseAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	br := w.started(fakeOptions("good"))
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			session := []messages.SessionID{ann, ben}[i%2]
			for range 5 {
				if i%4 < 2 {
					if _, err := br.Open(t.Context(), caller(session)); err != nil {
						t.Error(err)
					}
				} else if err := br.Close(t.Context(), session); err != nil {
					t.Error(err)
				}
				_ = br.Status()
			}
		})
	}
	group.Wait()
	link := w.open(br, ann)
	w.bind(link, ann)
	if got := w.seen(link); !slices.Contains(got, "space_space_echo") {
		t.Errorf("at the end the session sees %q", got)
	}
}

// TestPersonsConfigurationIsNotRead looks at what OpenCode is given: the bridge's configuration and home, the person's data folder.
func TestPersonsConfigurationIsNotRead(t *testing.T) {
	person := t.TempDir()
	t.Setenv("HOME", person)
	t.Setenv("USERPROFILE", person)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(person, "config"))
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("OPENCODE_CONFIG", filepath.Join(person, "x.json"))
	t.Setenv("OPENCODE_CONFIG_CONTENT", `{"model":"x/y"}`)
	w := newWorld(t)
	br := w.started(fakeOptions("good"))
	w.open(br, ann)
	env := map[string]string{}
	for line := range strings.SplitSeq(w.starts()[0], "\n") {
		key, value, _ := strings.Cut(line, "=")
		env[key] = value
	}
	if got := env["XDG_CONFIG_HOME"]; got != br.Status().ConfigRoot {
		t.Errorf("XDG_CONFIG_HOME = %q, want the bridge's", got)
	}
	if got, want := env["XDG_DATA_HOME"], filepath.Join(person, ".local", "share"); got != want {
		t.Errorf("XDG_DATA_HOME = %q, want the person's %q", got, want)
	}
	for _, key := range []string{"HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		if !strings.HasPrefix(env[key], w.home) {
			t.Errorf("%s = %q, want a folder of the bridge", key, env[key])
		}
	}
	for _, key := range []string{"OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG_DIR"} {
		if value, there := env[key]; there {
			t.Errorf("%s = %q reached OpenCode", key, value)
		}
	}
}

func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}
