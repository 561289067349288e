package catalogtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"agentd/providers/catalog"
)

// FuzzConfig says what is fuzzed.
type FuzzConfig struct {
	// Reader is the reader.
	Reader catalog.Reader
	// File is the slash-separated path below the home where the fuzzed bytes are put.
	File string
	// Others are files that stand beside it, by path, with their content.
	Others map[string]string
}

// Fuzz fuzzes the parser of one kind of file: whatever its bytes are, the reader does not fail, and what it finds
// can stand in an answer. Inputs are not shrunk well, because readers run in several goroutines: give the
// go command -fuzzminimizetime=0 for a short run.
func Fuzz(f *testing.F, cfg FuzzConfig, seeds ...[]byte) {
	f.Helper()
	for _, s := range seeds {
		f.Add(s)
	}
	// One home for all inputs: making folders takes longer than reading the file.
	b := &bench{cfg: Config{Reader: cfg.Reader}, env: NewEnv(f)}
	for rel, content := range cfg.Others {
		Put(f, b.env, rel, content, Time)
	}
	Put(f, b.env, cfg.File, "x", Time)
	path := filepath.Join(b.env.Home, filepath.FromSlash(cfg.File))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c := b.catalog(t, 1)
		found, err := c.Search(t.Context(), everything())
		if err != nil {
			var e *catalog.Error
			if !errors.As(err, &e) || e.Code != catalog.ScanFailed {
				t.Fatalf("Search: %v", err)
			}
			return
		}
		for _, s := range found.Sessions {
			if !catalog.ValidID(s.SessionID) || !utf8.ValidString(s.ProjectPath) || len(s.ProjectPath) > catalog.MaxPathBytes {
				t.Errorf("session %q in %q cannot stand in an answer", s.SessionID, s.ProjectPath)
			}
			for _, text := range s.Summaries {
				if !utf8.ValidString(text) || len(text) > catalog.MaxSummaryBytes {
					t.Errorf("session %q: summary %q is too long or no UTF-8", s.SessionID, text)
				}
			}
			if _, ok := cfg.Reader.(catalog.ContentReader); ok {
				_, _ = c.Read(t.Context(), catalog.ReadRequest{Agent: string(s.Agent), SessionID: s.SessionID, IncludeNonInteractive: true, IncludeArchived: true}) // An error is an answer.
			}
		}
		b.noFault(t, c, "fuzzed file")
	})
}
