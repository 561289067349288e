package catalog

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// missingRoot is the code of the warning that a configured place does not exist.
const missingRoot = "missing_root"

// missing reports whether a variable names a place of a store and neither is there. A store that is not where it usually is means that its agent
// is not used; one that a person named and that is not there is rather a mistake. Variables that are for all programs name no store.
func (r Root) missing(env Env) bool {
	return r.Var != "" && !strings.HasPrefix(r.Var, "XDG_") && gone(r.Path) && gone(env.Tilde(env.Var(r.Var)))
}

func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// missingWarnings tells of the configured places of a store that do not exist.
func missingWarnings(env Env, r Reader) []Warning {
	var out []Warning
	for _, root := range r.Roots(env) {
		if root.missing(env) {
			out = append(out, Warning{r.Agent(), missingRoot, "$" + root.Var + " is set, and what it names does not exist; mend it or take it away"})
		}
	}
	return out
}
