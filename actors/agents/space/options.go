package space

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"agentd/presets/prompt"
	"agentd/providers/opencode"
)

// Defaults of [Options].
const (
	// DefaultInstructions say who the agent is.
	DefaultInstructions = "You are Space Agent. Help with drawing, graph, scene, and app tasks using only approved available tools."
	// DefaultMaxRetries is how often OpenCode may try a model call again.
	DefaultMaxRetries = 5
	// DefaultRetryWithin is how long it may go on trying. Version 1.18 gives up after five tries, older ones never do.
	DefaultRetryWithin = 90 * time.Second
)

// Options say what the agent works with. Model is required.
type Options struct {
	// Model answers the prompts: a provider that OpenCode is logged in to or that its configuration names, and one of its models.
	Model opencode.Model
	// Prompts say what is going on, for the block "Context" of the system prompt. Nil means nothing.
	Prompts *prompt.Enrichers
	// Instructions are the first block of the system prompt. Empty means [DefaultInstructions].
	Instructions string
	// MaxRetries is how many times in a row OpenCode may try a model call again before the turn fails. Zero means [DefaultMaxRetries].
	MaxRetries int
	// RetryWithin is how long it may go on trying without any progress. Zero means [DefaultRetryWithin].
	RetryWithin time.Duration
	// Logger is told of what hurts no turn. No prompt, argument or output is logged. Nil discards.
	Logger *slog.Logger

	// keepFor is that of a connection; less than zero keeps none.
	keepFor time.Duration
}

func (o Options) withDefaults() Options {
	if o.Prompts == nil {
		o.Prompts = &prompt.Enrichers{}
	}
	o.Instructions = cmp.Or(o.Instructions, DefaultInstructions)
	o.MaxRetries = cmp.Or(o.MaxRetries, DefaultMaxRetries)
	o.RetryWithin = cmp.Or(o.RetryWithin, DefaultRetryWithin)
	o.keepFor = cmp.Or(o.keepFor, keepFor)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) validate() error {
	switch {
	case (o.Model.ProviderID == "") != (o.Model.ModelID == ""):
		return fmt.Errorf("%w: Model is %s: give PROVIDER/MODEL", ErrInvalid, o.Model)
	case o.MaxRetries < 0:
		return fmt.Errorf("%w: MaxRetries is %d: give zero or more", ErrInvalid, o.MaxRetries)
	case o.RetryWithin < 0:
		return fmt.Errorf("%w: RetryWithin is %s: give zero or more", ErrInvalid, o.RetryWithin)
	}
	return nil
}
