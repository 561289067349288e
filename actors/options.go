package actors

import (
	"fmt"
	"log/slog"
	"time"

	"agentd/actors/internal/session"
	"agentd/presets"
)

// The defaults of [Options].
const (
	DefaultQueueLimit      = session.DefaultQueueLimit
	DefaultMaxLiveSessions = 100_000
	DefaultIdleTimeout     = 5 * time.Minute
	DefaultFoldDelay       = 2 * time.Second
	DefaultDraftInterval   = 250 * time.Millisecond
	DefaultCancelGrace     = 2 * time.Second
	DefaultStopTimeout     = 10 * time.Second
)

// smallSnapshotBytes is the size up to which a snapshot is written anew whenever its session has been idle for a while.
const smallSnapshotBytes = 64 << 10

// Options tune a runtime. The zero value is good.
type Options struct {
	// QueueLimit is how many prompts may wait in one session. 0 means [DefaultQueueLimit].
	QueueLimit int
	// MaxLiveSessions is how many sessions may be in memory. 0 means [DefaultMaxLiveSessions].
	MaxLiveSessions int
	// IdleTimeout is how long a session stays in memory after its last turn. 0 means [DefaultIdleTimeout].
	IdleTimeout time.Duration
	// FoldDelay is how long a session is idle before its snapshot is written. 0 means [DefaultFoldDelay].
	FoldDelay time.Duration
	// DraftInterval is how often the text of growing drafts is stored. 0 means [DefaultDraftInterval].
	DraftInterval time.Duration
	// CancelGrace is how long a stopped agent and its hook may take before their turn ends without them; a [LingeringAgent] may ask for more. 0
	// means [DefaultCancelGrace].
	CancelGrace time.Duration
	// StopTimeout bounds [Runtime.Stop]. 0 means [DefaultStopTimeout].
	StopTimeout time.Duration
	// Exposure is what happens to unapproved risky tools. Empty means [presets.Hidden].
	Exposure presets.Exposure
	// RequestWait is how long the tool that asks for an approval waits for the person. 0 means
	// [presets.DefaultRequestWait].
	RequestWait time.Duration
	// Policy is the approval policy. Nil means [presets.DefaultPolicy].
	Policy presets.Policy
	// ApprovalTTL is how long a request for an approval stays open; then it is denied as expired. 0 means without limit.
	ApprovalTTL time.Duration
	// ArtifactRoot is the folder under which each session has one for the files that its tools make. Empty means that tools have none.
	ArtifactRoot string
	// WorkspaceRoot is the folder that workspace tools and commands are held to. Empty means that there is none, and such tools refuse.
	WorkspaceRoot string
	// DataDir is told to agents. It may be empty.
	DataDir string
	// Logger is told what nobody else is told: panics, and faults of background work. No prompt, argument or output is logged. Nil discards.
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	orDefault(&out.QueueLimit, DefaultQueueLimit)
	orDefault(&out.MaxLiveSessions, DefaultMaxLiveSessions)
	orDefault(&out.IdleTimeout, DefaultIdleTimeout)
	orDefault(&out.FoldDelay, DefaultFoldDelay)
	orDefault(&out.DraftInterval, DefaultDraftInterval)
	orDefault(&out.CancelGrace, DefaultCancelGrace)
	orDefault(&out.StopTimeout, DefaultStopTimeout)
	if out.Policy == nil {
		out.Policy = presets.DefaultPolicy()
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	return out
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o *Options) validate() error {
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"QueueLimit", int64(o.QueueLimit)},
		{"MaxLiveSessions", int64(o.MaxLiveSessions)},
		{"IdleTimeout", int64(o.IdleTimeout)},
		{"FoldDelay", int64(o.FoldDelay)},
		{"DraftInterval", int64(o.DraftInterval)},
		{"CancelGrace", int64(o.CancelGrace)},
		{"StopTimeout", int64(o.StopTimeout)},
		{"ApprovalTTL", int64(o.ApprovalTTL)},
	} {
		if limit.value < 0 {
			return fmt.Errorf("starting the runtime: Options.%s is %d: it must not be negative", limit.name, limit.value)
		}
	}
	if err := o.Policy.Validate(); err != nil {
		return fmt.Errorf("starting the runtime: Options.Policy: %w", err)
	}
	return nil
}

// sweepInterval is how often the registry looks for idle sessions.
func (o *Options) sweepInterval() time.Duration {
	return max(min(o.IdleTimeout, o.FoldDelay)/2, 10*time.Millisecond)
}
