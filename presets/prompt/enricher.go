package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"agentd/presets"
)

// NoContext is what [Enrichers.Format] says when no enricher has anything to say.
const NoContext = "No additional context."

// MaxContextBytes bounds what all enrichers together may say.
const MaxContextBytes = 256 << 10

// Errors of this package. They are wrapped, so compare with [errors.Is].
var (
	// ErrInvalid means that an enricher has no name or no function.
	ErrInvalid = errors.New("invalid enricher")
	// ErrEnricher means that an enricher failed; the text names it.
	ErrEnricher = errors.New("enricher failed")
)

// Subject is what enrichers are told of the turn that the prompt is for. The live objects of the host they close over.
type Subject struct {
	Caller  presets.Caller
	Context presets.Context
	// Presets are the active ones.
	Presets []presets.ActivePreset
}

// Enricher returns a text about what is going on, or nothing.
type Enricher func(ctx context.Context, subject Subject) (string, error)

// Enrichers is an ordered set of named enrichers. The zero value is empty and ready. Do not copy it.
type Enrichers struct {
	mu      sync.Mutex
	entries []entry // a change makes a new slice
}

type entry struct {
	name     string
	enricher Enricher
}

// Register adds an enricher, or replaces the one of that name in its place. The error is [ErrInvalid].
func (e *Enrichers) Register(name string, enricher Enricher) error {
	if strings.TrimSpace(name) == "" {
		return fmt.Errorf("%w: its name is empty", ErrInvalid)
	}
	if enricher == nil {
		return fmt.Errorf("%w: %q has no function", ErrInvalid, name)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	next := slices.Clone(e.entries)
	if i := slices.IndexFunc(next, func(old entry) bool { return old.name == name }); i >= 0 {
		next[i].enricher = enricher
	} else {
		next = append(next, entry{name: name, enricher: enricher})
	}
	e.entries = next
	return nil
}

// Remove takes an enricher away. One that is not there is no error.
func (e *Enrichers) Remove(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.entries = slices.DeleteFunc(slices.Clone(e.entries), func(old entry) bool { return old.name == name })
}

// Names returns the names, in order.
func (e *Enrichers) Names() []string {
	entries := e.snapshot()
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.name
	}
	return names
}

func (e *Enrichers) snapshot() []entry {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.entries
}

// Format runs the enrichers in order and joins what they say by line breaks; if that is nothing, the text is [NoContext].
// The first that fails or panics ends it with an error that wraps [ErrEnricher] and its cause, and names it.
func (e *Enrichers) Format(ctx context.Context, subject Subject) (string, error) {
	var texts []string
	size := 0
	for _, entry := range e.snapshot() {
		text, err := entry.run(ctx, subject)
		if err != nil {
			return "", fmt.Errorf("%w: %q: %w", ErrEnricher, entry.name, err)
		}
		if size += len(text); size > MaxContextBytes {
			return "", fmt.Errorf("%w: %q: the context has more than %d bytes with it", ErrEnricher, entry.name, MaxContextBytes)
		}
		if text = strings.TrimRight(text, "\n"); strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return NoContext, nil
	}
	return strings.Join(texts, "\n"), nil
}

func (e entry) run(ctx context.Context, subject Subject) (text string, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("it panicked: %v", fault)
		}
	}()
	return e.enricher(ctx, subject)
}
