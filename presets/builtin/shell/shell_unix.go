//go:build unix

package shell

import "agentd/presets/process"

// BaseEnv names the variables of this process that every command gets, beside those that begin with LC_.
func BaseEnv() []string {
	return []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"}
}

func sameName(a, b string) bool { return a == b }

// command says how the system's shell runs a text.
func command(text string) (process.Params, error) {
	return process.Params{Path: "/bin/sh", Args: []string{"-c", text}}, nil
}
