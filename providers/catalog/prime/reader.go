package prime

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/pi"
)

// Parse implements [catalog.Reader].
func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
	s, ok, err := pi.ParseTranscript(p, pi.Dialect{SaidOnly: true})
	if err != nil || !ok {
		return err
	}
	if p.Unit.Kind == pi.KindNested && s.Relation != catalog.SubAgent {
		s.NonInteractive, s.Relation = true, catalog.SubAgent
	}
	p.Emit(s)
	return nil
}

// Records implements [catalog.ContentReader].
func (Reader) Records(ctx context.Context, req catalog.ContentRequest) iter.Seq2[catalog.Record, error] {
	return pi.Records(ctx, req)
}

// Modes implements [catalog.Reader].
func (Reader) Modes() []catalog.Mode { return []catalog.Mode{{Name: catalog.DefaultMode}} }

// Launch implements [catalog.Reader]. The plan always names the folder of sessions, because the settings of a project apply only
// in its directory.
func (r Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
	l := catalog.Launch{Args: []string{"--resume", s.ID}, Env: map[string]string{}}
	if path, name := agentDir(env); name != "" {
		l.Env[name] = path
	}
	roots := r.Roots(env)
	at := max(0, slices.IndexFunc(roots, func(root catalog.Root) bool { return holds(root.Path, s.StoreFile) }))
	if path := roots[at].Path; path != "" {
		l.Env[sessionVar] = path
	}
	return l
}

// holds reports whether a file is one of a folder of sessions, or of the artifacts beside it.
func holds(root, path string) bool {
	return filepath.Dir(path) == root || strings.HasPrefix(path, filepath.Join(filepath.Dir(root), artifactsName)+string(filepath.Separator))
}
