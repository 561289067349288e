package catalog_test

import (
	"context"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"agentd/providers/catalog"
)

// blocked is a fake that may not look at one path.
type blocked struct {
	fake
	path string
}

func (f blocked) Discover(ctx context.Context, d *catalog.Discovery) error {
	d.Fault(f.path, &fs.PathError{Op: "open", Path: f.path, Err: fs.ErrPermission})
	return f.fake.Discover(ctx, d)
}

// A store that cannot be looked into is not an empty one.
func TestClosedStore(t *testing.T) {
	t.Parallel()
	const id = "s"
	tests := []struct {
		name         string
		rootIsFile   bool
		noRoot       bool
		session      bool
		blocked      string // below the root
		blockedIsDir bool
		list         catalog.Code // of a listing of this agent
		show         catalog.Code
		hint         bool   // show says that something was left out
		warnings     string // of a listing of all agents
	}{
		{name: "no root", noRoot: true, show: catalog.NotFound},
		{name: "an empty root", show: catalog.NotFound},
		{name: "a file instead of the root", rootIsFile: true, list: catalog.ScanFailed, show: catalog.ScanFailed, warnings: "claude:scan_failed claude:unreadable"},
		{name: "a closed root", blocked: ".", blockedIsDir: true, list: catalog.ScanFailed, show: catalog.ScanFailed, warnings: "claude:scan_failed claude:unreadable"},
		{name: "a closed folder and nothing else", blocked: "sub", blockedIsDir: true, list: catalog.ScanFailed, show: catalog.NotFound, hint: true, warnings: "claude:scan_failed claude:unreadable"},
		{name: "a closed folder and a session", blocked: "sub", blockedIsDir: true, session: true, show: catalog.NotFound, hint: true, warnings: "claude:unreadable"},
		{name: "a closed file", blocked: "sub", show: catalog.NotFound, hint: true, warnings: "claude:unreadable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reader := &blocked{fake: fake{agent: catalog.Claude}}
			w := newWorld(t, reader, fake{agent: catalog.Codex})
			if tt.blocked == "" {
				w.readers[0] = reader.fake
			}
			reader.path = filepath.Join(w.env.Home, "claude", tt.blocked)
			switch dir := filepath.Join(w.env.Home, "claude"); {
			case tt.rootIsFile:
				w.write(t, "claude", "a file")
			case tt.blockedIsDir:
				dir = reader.path
				fallthrough
			case !tt.noRoot:
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if tt.session {
				w.put(t, catalog.Claude, "a.json", session(id, "/p", 0))
			}
			w.put(t, catalog.Codex, "b.json", session("other", "/p", 0))
			c := w.catalog(t, catalog.Options{})
			agent := "claude"
			if _, err := c.Search(t.Context(), catalog.SearchRequest{Agent: &agent}); code(err) != tt.list {
				t.Errorf("Search(claude) = %v, want code %q", err, tt.list)
			}
			_, err := c.Show(t.Context(), catalog.ShowRequest{Agent: agent, SessionID: "unknown"})
			if code(err) != tt.show || strings.Contains(err.Error(), "left out") != tt.hint {
				t.Errorf("Show(claude, unknown) = %v, want code %q, and that something was left out: %v", err, tt.show, tt.hint)
			}
			all, err := c.Search(t.Context(), catalog.SearchRequest{})
			if err != nil {
				t.Fatalf("Search() = %v, want what there is", err)
			}
			if got := codes(all.Warnings); got != tt.warnings {
				t.Errorf("Search() warns of %q, want %q", got, tt.warnings)
			}
		})
	}
}

// Some programs start servers with hardly any variables: then the account tells the home.
func TestHostEnvWithoutHome(t *testing.T) {
	account, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "USERPROFILE", "home"} {
		t.Setenv(name, "")
	}
	if got := catalog.HostEnv().Home; got != account.HomeDir {
		t.Errorf("HostEnv().Home = %q, want the account's %q", got, account.HomeDir)
	}
}
