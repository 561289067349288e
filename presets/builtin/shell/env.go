package shell

import (
	"os"
	"slices"
	"strings"
)

// ArtifactDirEnv is the variable that tells a command where the artifact folder of its session is.
const ArtifactDirEnv = "AGENTD_ARTIFACT_DIR"

// environment is what a command gets: the allowed variables as this process has them, and ours.
func (s *shell) environment(artifactDir string) []string {
	var out []string
	for _, entry := range os.Environ() {
		name, _, found := strings.Cut(entry, "=")
		if found && name != "" && s.allowed(name) {
			out = append(out, entry)
		}
	}
	out = append(out, "TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0")
	if artifactDir != "" {
		out = append(out, ArtifactDirEnv+"="+artifactDir)
	}
	return out
}

func (s *shell) allowed(name string) bool {
	same := func(other string) bool { return sameName(name, other) }
	return slices.ContainsFunc(BaseEnv(), same) || slices.ContainsFunc(s.options.PassEnv, same) || strings.HasPrefix(name, "LC_")
}
