package catalogtest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"agentd/providers/catalog"
)

// Config is what the suite needs to know of a reader.
type Config struct {
	// Reader is the reader.
	Reader catalog.Reader
	// Write writes a small sound store, below env.Home or where env.Vars say, and returns what is in it: all sessions, also
	// the non-interactive and archived ones, at least two that do not share a file. It is called many times, each time for
	// another home, and writes the same. Close what it opens.
	Write func(tb testing.TB, env catalog.Env) []Want
	// Vars, when set, are variables that move the store. A value that starts with "~/" is below the home. The whole suite
	// runs without them, and the first test also with them.
	Vars map[string]string
	// Shared tells, by slash-separated path below the home, which files hold or name several sessions, such as a
	// database or an index: breaking one may cost every session. Nil is none.
	Shared func(rel string) bool
}

// Want is a session that must be found. Empty fields are not compared, except where the comment says so.
type Want struct {
	// ID is the session's id.
	ID string
	// Project is compared always. A value that starts with "~/" is below the home.
	Project string
	// TimeMS is the last activity.
	TimeMS int64
	// Title must be the first summary.
	Title string
	// Prompt must be among the summaries.
	Prompt string
	// Branch and Worktree are compared always.
	Branch, Worktree string
	// Recap must be the start of the recap.
	Recap string
	// Parent and Relation are compared always.
	Parent   string
	Relation catalog.Relation
	// NonInteractive and Archived are compared always.
	NonInteractive, Archived bool
	// Said is a word that stands in the transcript and in no other of the store.
	Said string
}

// Time is a time for sessions in a store, in Unix milliseconds; add to it.
const Time int64 = 1788264000000 // 2026-09-01T12:00:00Z

// NewEnv returns surroundings with an empty home, for tests of one reader.
func NewEnv(tb testing.TB) catalog.Env {
	tb.Helper()
	home, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return catalog.Env{Home: home, Dir: home, OS: runtime.GOOS, Vars: map[string]string{}, Now: now}
}

// now is the present, but never before the times of the stores.
func now() time.Time {
	if t := time.UnixMilli(Time).AddDate(0, 6, 0); time.Now().Before(t) {
		return t
	}
	return time.Now()
}

// Put writes a file below the home, with its folders and with a time, in Unix milliseconds, or the present for 0.
func Put(tb testing.TB, env catalog.Env, rel, content string, ms int64) {
	tb.Helper()
	path := filepath.Join(env.Home, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
	if ms > 0 {
		if err := os.Chtimes(path, time.Time{}, time.UnixMilli(ms)); err != nil {
			tb.Fatal(err)
		}
	}
}
