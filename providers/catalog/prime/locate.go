package prime

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
	"agentd/providers/catalog/pi"
)

const (
	sessionVar    = "PRIME_AGENT_SESSION_DIR"
	oldSessionVar = "PRIME_AGENT_CODING_AGENT_SESSION_DIR"
	dirVar        = "PRIME_AGENT_CODING_AGENT_DIR"
	artifactsName = "session-artifacts"
)

// maxArtifacts is how deep below the folder of artifacts a session is looked for that another one started: two levels for
// each generation.
const maxArtifacts = 16

// Reader reads the store of Prime Agent. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.PrimeAgent }

// Roots implements [catalog.Reader]. It reads the settings files, which can name the folder; those of a project come first.
func (Reader) Roots(env catalog.Env) []catalog.Root {
	for _, name := range []string{sessionVar, oldSessionVar} {
		if v := env.Var(name); v != "" {
			return []catalog.Root{{Path: env.Tilde(v), Var: name}}
		}
	}
	agent, name := agentDir(env)
	if agent == "" {
		return []catalog.Root{{}}
	}
	usual := catalog.Root{Path: filepath.Join(agent, "sessions"), Var: name}
	configured := pi.SettingsDir(env, filepath.Join(env.Dir, ".prime", "agent", "settings.json"), env.Dir)
	if configured == "" {
		configured = pi.SettingsDir(env, filepath.Join(agent, "settings.json"), env.Dir)
	}
	if configured == "" || configured == usual.Path {
		return []catalog.Root{usual}
	}
	return []catalog.Root{{Path: configured, Var: name}, usual}
}

// agentDir returns the folder of the program's files, and the variable that configured it.
func agentDir(env catalog.Env) (path, name string) {
	if v := env.Var(dirVar); v != "" {
		return env.Tilde(v), dirVar
	}
	return env.InHome(".prime", "agent"), ""
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	var found []catalog.Unit
	for _, root := range r.Roots(d.Env) {
		if root.Path == "" {
			continue
		}
		units, err := pi.Transcripts(ctx, d, root.Path, 1)
		if err != nil {
			return err
		}
		found = append(found, units...)
		if !d.NonInteractive {
			continue
		}
		units, err = children(ctx, d, filepath.Join(filepath.Dir(root.Path), artifactsName))
		if err != nil {
			return err
		}
		found = append(found, units...)
	}
	for _, u := range pi.OfID(found, d.Exact) {
		d.Add(u)
	}
	return nil
}

// children lists the transcripts of sessions that others started, which lie among much else.
func children(ctx context.Context, d *catalog.Discovery, root string) (found []catalog.Unit, err error) {
	isChild := func(dir string) bool { return strings.HasPrefix(filepath.Base(dir), "sub-") }
	opts := bounded.WalkOptions{Depth: maxArtifacts, Enter: func(rel string, depth int) bool {
		above := filepath.Base(filepath.Dir(rel))
		return depth == 1 || isChild(rel) || above == artifactsName || filepath.Base(rel) == artifactsName
	}}
	err = bounded.Walk(ctx, root, opts, func(e bounded.Entry) {
		if isChild(filepath.Dir(e.Path)) && strings.HasSuffix(e.Path, ".jsonl") {
			found = append(found, catalog.Unit{Path: e.Path, Kind: pi.KindNested})
		}
	}, d.Fault)
	return found, err
}
