package pi

import (
	"context"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	dirVar     = "PI_CODING_AGENT_DIR"
	sessionVar = "PI_CODING_AGENT_SESSION_DIR"
)

// maxSettingsBytes bounds the settings file.
const maxSettingsBytes = 1 << 20

// Reader reads the store of pi. It has no state.
type Reader struct{}

var (
	_ catalog.Reader        = Reader{}
	_ catalog.ContentReader = Reader{}
)

// New returns the reader.
func New() Reader { return Reader{} }

// Agent implements [catalog.Reader].
func (Reader) Agent() catalog.Agent { return catalog.Pi }

// Roots implements [catalog.Reader]. It reads the settings file, which can name the folder.
func (Reader) Roots(env catalog.Env) []catalog.Root {
	if v := env.Var(sessionVar); v != "" {
		return []catalog.Root{{Path: env.Tilde(v), Var: sessionVar}}
	}
	agent, name := agentDir(env)
	if agent == "" {
		return []catalog.Root{{}}
	}
	usual := catalog.Root{Path: filepath.Join(agent, "sessions"), Var: name}
	configured := settingsDir(env, agent)
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
	return env.InHome(".pi", "agent"), ""
}

// settingsDir returns the session folder that the settings name.
func settingsDir(env catalog.Env, agent string) string {
	return SettingsDir(env, filepath.Join(agent, "settings.json"), agent)
}

// SettingsDir returns the session folder that a settings file names; a relative one lies in base. Settings that cannot be
// read name none.
func SettingsDir(env catalog.Env, path, base string) string {
	data, err := bounded.ReadAll(path, maxSettingsBytes)
	if err != nil {
		return ""
	}
	for key, v := range bounded.Fields(data) {
		if dir := v.Text(catalog.MaxPathBytes); string(key) == "sessionDir" && dir != "" {
			if filepath.IsAbs(dir) || strings.HasPrefix(dir, "~") {
				return env.Tilde(dir)
			}
			return filepath.Join(base, dir)
		}
	}
	return ""
}

// Discover implements [catalog.Reader].
func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
	var found []catalog.Unit
	for _, root := range r.Roots(d.Env) {
		if root.Path == "" {
			continue
		}
		units, err := Transcripts(ctx, d, root.Path, 8)
		if err != nil {
			return err
		}
		found = append(found, units...)
	}
	for _, u := range OfID(found, d.Exact) {
		d.Add(u)
	}
	return nil
}

// Transcripts lists the transcripts in a session folder, down to a depth.
func Transcripts(ctx context.Context, d *catalog.Discovery, root string, depth int) ([]catalog.Unit, error) {
	var found []catalog.Unit
	err := bounded.Walk(ctx, root, bounded.WalkOptions{Depth: depth}, func(e bounded.Entry) {
		if strings.HasSuffix(e.Path, ".jsonl") {
			u := catalog.Unit{Path: e.Path}
			if e.Depth > 2 {
				u.Kind = KindNested
			}
			found = append(found, u)
		}
	}, d.Fault)
	return found, err
}

// OfID returns the transcripts that bear an id in their name; all when there is none, because nothing forces a name
// to.
func OfID(found []catalog.Unit, id string) []catalog.Unit {
	var named []catalog.Unit
	for _, u := range found {
		if id != "" && strings.Contains(filepath.Base(u.Path), id) {
			named = append(named, u)
		}
	}
	if len(named) == 0 {
		return found
	}
	return named
}
