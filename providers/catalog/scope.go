package catalog

import (
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"
)

// scope is what answers are limited to. The zero value is everything.
type scope struct {
	agent   Agent
	project string // normal form, see normalProject
}

// request is what one call asks to narrow the scope to; nil is no wish.
type request struct {
	agent, project *string
}

// narrow returns the scope of one call: the configured one, narrowed by the request.
func (c *Catalog) narrow(r request) (scope, error) {
	out := c.scope
	if r.agent != nil {
		if len(*r.agent) > MaxNameBytes {
			return scope{}, failf(InvalidAgent, "the agent's name is longer than %d bytes", MaxNameBytes)
		}
		agent, ok := ParseAgent(*r.agent)
		if _, has := c.reader(agent); !ok || !has {
			return scope{}, failf(InvalidAgent, "there is no agent %q; capabilities lists the names", *r.agent)
		}
		if out.agent != "" && out.agent != agent {
			return scope{}, failf(OutOfScope, "the agent is outside the configured scope, which is %q", out.agent)
		}
		out.agent = agent
	}
	if r.project != nil {
		project, err := c.normalProject(*r.project)
		if err != nil {
			return scope{}, err
		}
		if out.project != "" && out.project != project {
			return scope{}, failf(OutOfScope, "the project is outside the configured scope")
		}
		out.project = project
	}
	return out, nil
}

// normalProject makes a project path absolute and resolves its links as far as it exists, so that two spellings of
// one directory are equal. It is an exact directory, never a pattern or a prefix.
func (c *Catalog) normalProject(path string) (string, error) {
	if path == "" || len(path) > MaxPathBytes || strings.ContainsRune(path, 0) {
		return "", failf(InvalidRequest, "project must have 1 to %d bytes and no NUL", MaxPathBytes)
	}
	path = c.resolve(path)
	if !utf8.ValidString(path) {
		return "", failf(InvalidRequest, "project leads to a path that is not UTF-8")
	}
	return path, nil
}

func (c *Catalog) resolve(path string) string {
	path = c.env().Abs(path)
	for head, rest := path, ""; ; {
		if real, err := filepath.EvalSymlinks(head); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(head)
		if parent == head {
			return path
		}
		head, rest = parent, filepath.Join(filepath.Base(head), rest)
	}
}

// projectFilter tells which recorded project paths are in the scope. It asks the file system once for each path. It is safe for concurrent
// use.
func (c *Catalog) projectFilter(s scope) func(path string) bool {
	if s.project == "" {
		return func(string) bool { return true }
	}
	var mu sync.Mutex
	known := map[string]bool{} // guarded by mu
	return func(path string) bool {
		if path == "" || len(path) > MaxPathBytes {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		in, ok := known[path]
		if !ok {
			in = path == s.project || c.resolve(path) == s.project
			known[path] = in
		}
		return in
	}
}
