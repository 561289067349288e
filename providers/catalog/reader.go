package catalog

import (
	"context"
	"iter"
)

// Reader knows one agent's local store: where it lies, which files hold sessions, and how one such file is read. It
// has no state, starts no goroutine, keeps nothing and writes nothing. The catalog does the rest: it runs readers and
// files in parallel, remembers what was parsed, joins, filters, ranks, bounds and reports.
//
// All methods may be called from several goroutines at once. Each blocks only in the file system, and only as long as its bounds
// allow; the ones with a context return soon after it ends. A panic in a reader costs the file that it reads.
type Reader interface {
	// Agent names the agent.
	Agent() Agent
	// Roots tells where the store is looked for, whether it exists or not, the most important place first. It does
	// not touch the file system, except for a settings file of the agent that says where.
	Roots(env Env) []Root
	// Discover lists the files of the store through [Discovery.Add] without opening them. A store that does not exist
	// is an empty one. An error means that the whole store cannot be read.
	Discover(ctx context.Context, d *Discovery) error
	// Parse reads one file and tells its sessions through [Parsing.Emit]. What it tells must depend on the unit's
	// files alone (Path and With), because it is remembered as long as those do not change. An error skips the file with
	// the [ReasonOf] it; what was emitted before still counts.
	Parse(ctx context.Context, p *Parsing) error
	// Modes lists the ways to resume, the default first.
	Modes() []Mode
	// Launch tells how a session is resumed in the default mode.
	Launch(env Env, s *Session) Launch
}

// Assembler is a [Reader] that joins what it found in several files: an index with transcripts, a database with the
// files that it names. Without it each emitted session stands for itself. Either way the catalog unites sessions of
// the same id and project afterwards.
type Assembler interface {
	// Assemble returns the sessions. It must not read files, and what it returns must depend on the parts alone, since it is not called again
	// while they are the same: what depends on the surroundings is told by [Unit.Kind]. The parts' sessions are copies and may be
	// changed, except for the elements of Prompts: replace or extend that slice.
	Assemble(a *Assembly) []Session
}

// ContentReader is a [Reader] that can read what was said in a session, for full-text search and for reading.
type ContentReader interface {
	// Records iterates over the records of a session's transcript. An error is the last value; a damaged record
	// is left out. Texts are bounded by [MaxRecordBytes].
	Records(ctx context.Context, req ContentRequest) iter.Seq2[Record, error]
}

// Root is a place where a store is looked for.
type Root struct {
	// Path is an absolute file or folder. Empty when the surroundings do not tell it.
	Path string
	// Var is the environment variable that configured the place, empty for the default.
	Var string
}

// Unit is one file that may hold sessions, or an index of them.
type Unit struct {
	// Path is the file. It is opened only when it is a regular file of at least one byte.
	Path string
	// Kind is the reader's own word for what the file is, when it has several kinds.
	Kind string
	// With are other files whose content [Reader.Parse] uses for this unit, such as a database's log or a side file.
	// They need not exist. Their size and time are part of what is remembered.
	With []string
	// Store is true for a file that holds many sessions and without which the store cannot be read, such as the
	// only database. When one fails and nothing is found, the answer is a failed scan and not an empty list.
	Store bool
}

// Mode is a way to resume a session.
type Mode struct {
	// Name is the exact label that a caller asks for.
	Name string
	// Args are appended to the resume command. None for the default mode.
	Args []string
	// Unsafe is true when the mode takes away approvals or a sandbox.
	Unsafe bool
}

// DefaultMode is the name of the first mode of every agent.
const DefaultMode = "default"

// Launch is how a session is resumed. Nothing here is ever run.
type Launch struct {
	// Program overrides the agent's usual command: a name to find in PATH, or a path. Empty is the usual one.
	Program string
	// Args are the literal arguments.
	Args []string
	// Env are the storage roots that the agent must be given to find this session again: variable to absolute path.
	// Never a secret, never a copy of the environment.
	Env map[string]string
}

// Role is who speaks in a record.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
	System    Role = "system"
)

// MaxRecordBytes bounds the text of a record.
const MaxRecordBytes = 256 << 10

// Record is one thing that was said or done in a session.
type Record struct {
	// Role is who.
	Role Role
	// Text is what, as plain text.
	Text string
	// TimeMS is when, in Unix milliseconds, or 0.
	TimeMS int64
	// Cite names the place in the store, stable as long as the file is: a message id, else "line@offset".
	Cite string
	// Cut is true when the text was longer.
	Cut bool
}

// ContentRequest asks for a transcript.
type ContentRequest struct {
	// Env is the surroundings.
	Env Env
	// Session is a session that this reader found. StoreFile and Ref are as it left them.
	Session Session
	// NewestFirst asks for the records from the end.
	NewestFirst bool
	// Words, when there are any, allow the reader to leave out records in whose stored form none of them occurs,
	// without regard to case. They are in lower case and consist of ASCII letters and digits, so that no escaping can hide
	// them. It is a hint that saves decoding.
	Words []string
}
