package mcp

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Registry is the list of tools of one MCP server, each with its owner. An owner changes its own tools only. It is safe for use by
// several goroutines.
type Registry struct {
	server *sdk.Server // set at construction

	mu      sync.Mutex
	owners  map[string]bool
	entries map[string]entry // by name
}

type entry struct {
	owner string
	tool  Tool
}

// Entry is one tool and who owns it.
type Entry struct {
	Owner string
	Tool  Tool
}

// NewRegistry returns the registry of the server's tools. The server should have no tools that were not added through it: it does
// not know of those.
func NewRegistry(server *sdk.Server) *Registry {
	return &Registry{server: server, owners: make(map[string]bool), entries: make(map[string]entry)}
}

// Entries returns all tools, sorted by name.
func (r *Registry) Entries() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Entry, 0, len(r.entries))
	for _, name := range slices.Sorted(maps.Keys(r.entries)) {
		out = append(out, Entry{Owner: r.entries[name].owner, Tool: r.entries[name].tool})
	}
	return out
}

// Has reports whether a tool of that name is there now, whoever owns it.
func (r *Registry) Has(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.entries[name]
	return ok
}

// tool returns the tool of that name, or an empty one.
func (r *Registry) tool(name string) Tool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entries[name].tool
}

// Claim makes the caller the owner of that name, with no tools yet. Errors: [ErrInvalid] if the name is empty, [ErrOwned] if somebody
// has it.
func (r *Registry) Claim(owner string) (*Share, error) {
	if owner == "" {
		return nil, fmt.Errorf("claiming tools: %w: the owner's name is empty", ErrInvalid)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owners[owner] {
		return nil, fmt.Errorf("claiming tools for owner %q: %w", owner, ErrOwned)
	}
	r.owners[owner] = true
	return &Share{registry: r, owner: owner}, nil
}

// Share is what one owner has in a registry.
type Share struct {
	registry *Registry
	owner    string
}

// Difference says what a change did, by names, sorted.
type Difference struct {
	Added   []string
	Changed []string
	Removed []string
}

// Empty reports whether nothing was done.
func (d Difference) Empty() bool { return len(d.Added)+len(d.Changed)+len(d.Removed) == 0 }

// Owner returns the owner's name.
func (s *Share) Owner() string { return s.owner }

// Names returns the names of the owner's tools, sorted.
func (s *Share) Names() []string {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	return s.names()
}

func (s *Share) names() []string {
	var out []string
	for name, entry := range s.registry.entries {
		if entry.owner == s.owner {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Replace makes the owner's tools exactly these. What is the same stays; a tool whose description, schema, source or risk differs is a
// change. All of it happens at once, so clients are told once. On an error nothing has changed: [ErrCollision] names the
// tool and the other owner, [ErrInvalid] the tool and its fault, [ErrReleased] comes after Release.
func (s *Share) Replace(tools []Tool) (Difference, error) {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	if !s.registry.owners[s.owner] {
		return Difference{}, fmt.Errorf("replacing tools of owner %q: %w", s.owner, ErrReleased)
	}
	wanted := make(map[string]Tool, len(tools))
	for _, tool := range tools {
		if err := s.check(tool, wanted); err != nil {
			return Difference{}, fmt.Errorf("replacing tools of owner %q: %w", s.owner, err)
		}
		wanted[tool.Name] = tool
	}
	difference := s.compare(wanted)
	s.apply(difference, wanted)
	return difference, nil
}

// check refuses a tool that cannot be added. Those that are there unchanged were checked already.
func (s *Share) check(tool Tool, wanted map[string]Tool) error {
	if _, twice := wanted[tool.Name]; twice {
		return fmt.Errorf("tool %q: %w: it is there twice", tool.Name, ErrInvalid)
	}
	present, taken := s.registry.entries[tool.Name]
	if taken && present.owner != s.owner {
		return fmt.Errorf("tool %q: %w %q", tool.Name, ErrCollision, present.owner)
	}
	if taken && present.tool.same(tool) && tool.Handler != nil {
		return nil
	}
	return tool.validate()
}

func (s *Share) compare(wanted map[string]Tool) Difference {
	var d Difference
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		present, there := s.registry.entries[name]
		switch {
		case !there:
			d.Added = append(d.Added, name)
		case !present.tool.same(wanted[name]):
			d.Changed = append(d.Changed, name)
		}
	}
	for _, name := range s.names() {
		if _, keep := wanted[name]; !keep {
			d.Removed = append(d.Removed, name)
		}
	}
	return d
}

// apply makes the changes in one burst: the engine tells clients 10 ms after the last of several changes.
func (s *Share) apply(d Difference, wanted map[string]Tool) {
	if len(d.Removed) > 0 {
		s.registry.server.RemoveTools(d.Removed...)
		for _, name := range d.Removed {
			delete(s.registry.entries, name)
		}
	}
	for _, names := range [][]string{d.Added, d.Changed} {
		for _, name := range names {
			tool := wanted[name]
			s.registry.server.AddTool(tool.listed(), tool.Handler)
			s.registry.entries[name] = entry{owner: s.owner, tool: tool}
		}
	}
}

// Release removes the owner's tools and gives the name up. It may be called more than once.
func (s *Share) Release() {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	if !s.registry.owners[s.owner] {
		return
	}
	s.apply(Difference{Removed: s.names()}, nil)
	delete(s.registry.owners, s.owner)
}
