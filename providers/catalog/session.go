package catalog

import (
	"path/filepath"
	"slices"
	"strings"
)

// Session is what a reader tells of one session of an agent. All texts are untrusted. A reader fills what its store
// knows; the zero value of each field means "not known". The catalog completes, bounds and orders it.
type Session struct {
	// ID is the agent's own id, as its resume command takes it.
	ID string
	// ProjectPath is the absolute directory that the session was started in, as it was recorded. The directory need
	// not exist any more.
	ProjectPath string
	// ProjectName is for people. Empty is the last component of ProjectPath.
	ProjectName string
	// TimeMS is the time of the last activity in Unix milliseconds, 0 when it is not known. Use [Parsing.Believe]
	// for each time that you read.
	TimeMS int64
	// Title is the name of the session: the one that a person gave, else the one that the agent made.
	Title string
	// Prompts are what a person typed, the most telling first: as a rule the first prompt, then the latest ones.
	// Machine-made prompts (context blocks, command echoes) do not belong here. At most [MaxPrompts] are kept.
	Prompts []string
	// Recap is the agent's own account of where the session stands.
	Recap string
	// Branch is the Git branch that was recorded last.
	Branch string
	// Worktree is the name of the linked worktree that the session ran in, or the path where there is no name.
	Worktree string
	// NonInteractive is true for a session that no person held: a headless run, an SDK run, a sub-agent. Leave it
	// false where the store cannot tell.
	NonInteractive bool

	Details
}

// Details is what default answers leave out.
type Details struct {
	// Parent is the id of the session that this one was forked from or that started it.
	Parent string
	// Relation says what this session is to its parent.
	Relation Relation
	// Archived is true when a person put the session away. It is left out unless it is asked for.
	Archived bool
	// Repository is the address of the Git remote, as it was recorded.
	Repository string
	// StartedMS is the time of the first activity in Unix milliseconds.
	StartedMS int64
	// StoreFile is the file that holds the session. The catalog fills it with the unit's path.
	StoreFile string
	// Ref is for the reader alone: what it needs to find the transcript within StoreFile. At most [MaxRefBytes].
	Ref string
}

// Relation is what a session is to its parent.
type Relation string

// The relations.
const (
	// Fork is a session that starts as a copy of the parent's conversation.
	Fork Relation = "fork"
	// Continuation is a session that goes on where the parent ended, under a new id.
	Continuation Relation = "continuation"
	// SubAgent is a session that the parent started for a part of its work.
	SubAgent Relation = "sub-agent"
)

const (
	// MaxPrompts is how many prompts of a session are kept.
	MaxPrompts = 3
	// MaxTextBytes is how much of a title, a prompt or a recap a reader needs to keep. More is cut.
	MaxTextBytes = 4096
	// MaxRefBytes is the bound of [Details].Ref.
	MaxRefBytes = 1024
)

// clone returns a session that shares no slice with s.
func (s Session) clone() Session {
	s.Prompts = slices.Clone(s.Prompts)
	return s
}

// projectName returns the name of the project for people: "unknown" when there is none.
func (s *Session) projectName() string {
	if s.ProjectName != "" {
		return s.ProjectName
	}
	return lastComponent(s.ProjectPath)
}

// lastComponent takes both kinds of separator, because a store can come from another system.
func lastComponent(path string) string {
	trimmed := strings.TrimRight(path, "/")
	if isWindowsPath(path) {
		trimmed = strings.TrimRight(path, `/\`)
		if i := strings.LastIndexAny(trimmed, `/\`); i >= 0 {
			trimmed = trimmed[i+1:]
		}
	} else if trimmed != "" {
		trimmed = filepath.ToSlash(trimmed)
		trimmed = trimmed[strings.LastIndexByte(trimmed, '/')+1:]
	}
	if trimmed == "" {
		return "unknown"
	}
	return trimmed
}

// isWindowsPath reports whether a path starts with a drive or is a network path.
func isWindowsPath(path string) bool {
	if strings.HasPrefix(path, `\\`) {
		return true
	}
	return len(path) >= 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') &&
		(path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z')
}
