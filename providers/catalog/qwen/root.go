package qwen

import (
	"path/filepath"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

const (
	homeVar    = "QWEN_HOME"
	runtimeVar = "QWEN_RUNTIME_DIR"
)

// maxSettingsBytes bounds a settings file.
const maxSettingsBytes = 1 << 20

// Roots implements [catalog.Reader]. It reads the settings files, which can name the folder.
func (Reader) Roots(env catalog.Env) []catalog.Root {
	if v := env.Var(runtimeVar); v != "" {
		return []catalog.Root{{Path: env.Tilde(v), Var: runtimeVar}}
	}
	usual := home(env)
	for _, dir := range []string{workspace(env), usual.Path} {
		if dir == "" {
			continue
		}
		named := settingsDir(filepath.Join(dir, "settings.json"))
		if named == "" {
			continue
		}
		if path := env.Tilde(named); path != usual.Path {
			return []catalog.Root{{Path: path}, usual}
		}
		break
	}
	return []catalog.Root{usual}
}

// home is the folder of the program's own files.
func home(env catalog.Env) catalog.Root {
	if v := env.Var(homeVar); v != "" {
		return catalog.Root{Path: env.Tilde(v), Var: homeVar}
	}
	return catalog.Root{Path: env.InHome(".qwen")}
}

// workspace is the folder of the settings of the present directory.
func workspace(env catalog.Env) string {
	if env.Dir == "" {
		return ""
	}
	return filepath.Join(env.Dir, ".qwen")
}

// settingsDir returns the folder that a settings file names. Settings that cannot be read name none.
func settingsDir(path string) string {
	data, err := bounded.ReadAll(path, maxSettingsBytes)
	if err != nil {
		return ""
	}
	return bounded.Pick(data, "advanced.runtimeOutputDir").Text(catalog.MaxPathBytes)
}
