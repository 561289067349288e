package presets

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agentd/messages"
)

// Limits of a tool.
const (
	// ToolPrefix begins the external name of every tool.
	ToolPrefix = "space_"
	// MaxToolNameBytes is the longest external name that all three tool shapes accept.
	MaxToolNameBytes = 64
	// MaxDescriptionBytes is the longest description of a tool.
	MaxDescriptionBytes = 16 << 10
	// MaxSchemaBytes is the largest input schema of a tool.
	MaxSchemaBytes = 64 << 10
)

// Adapter makes one tool from the live state of the host. It is a value; what it closes over belongs to the host.
type Adapter struct {
	// ID is the internal name, dotted by habit: "drawing.insert-shape". Unique. Required.
	ID string
	// Name is the external name, which models see: letters, digits, '_' and '-', at most [MaxToolNameBytes], with [ToolPrefix] in
	// front. No two active tools may share one. Required.
	Name string
	// Description tells a model what the tool does. Required.
	Description string
	// InputSchema is the JSON Schema (draft 2020-12) of the arguments: an object whose type is "object". Required.
	InputSchema json.RawMessage
	// Risk is the least risk of the tool, whatever preset offers it. Empty leaves it to the presets.
	Risk messages.Risk
	// Idempotent says that running the tool twice does what running it once does, so that a
	// call whose end was not seen may be repeated. It says nothing about risk.
	Idempotent bool
	// Make builds the tool for one call. It is called for each call, after its approval and before its start is
	// recorded; it fetches the live objects of the host and fails loudly if they are not there. It must not act. Required.
	Make MakeFunc
}

// Env is what a tool may know of the call that it is built for.
type Env struct {
	Caller
	// CallID is the call. The surface sets it.
	CallID messages.CallID
	// ArtifactDir is the absolute path of the session's artifact folder. It need not exist yet: a tool makes it when it first
	// writes. Empty means that there is none.
	ArtifactDir string
	// WorkspaceRoot is the absolute path of the folder that file tools and commands are held to. Empty means that
	// there is none, and such tools refuse.
	WorkspaceRoot string
}

// MakeFunc builds the function that runs one call.
type MakeFunc func(env Env) (RunFunc, error)

// RunFunc runs one call. The arguments are one JSON object that fits the schema. It must return soon after the context
// ends. An error and a panic become a failed result; an error text is shown to the model.
type RunFunc func(ctx context.Context, arguments json.RawMessage) (Result, error)

// Bind makes a [MakeFunc] of a function that takes its arguments as a struct. The JSON names of the struct's fields
// must be those of the schema; the schema was checked already.
func Bind[In any](run func(ctx context.Context, env Env, in In) (Result, error)) MakeFunc {
	return func(env Env) (RunFunc, error) {
		return func(ctx context.Context, arguments json.RawMessage) (Result, error) {
			var in In
			if err := json.Unmarshal(arguments, &in); err != nil {
				return Result{}, fmt.Errorf("reading arguments: %w", err)
			}
			return run(ctx, env, in)
		}, nil
	}
}

// Validate returns an error that wraps [ErrInvalid] and names the adapter and the first fault.
func (a Adapter) Validate() error {
	if a.ID == "" || len(a.ID) > MaxNameBytes || strings.ContainsFunc(a.ID, isSpaceOrControl) {
		return fmt.Errorf("adapter id %.40q: %w: give 1 to %d bytes without spaces", a.ID, ErrInvalid, MaxNameBytes)
	}
	if fault := a.fault(); fault != "" {
		return fmt.Errorf("adapter %q: %w: %s", a.ID, ErrInvalid, fault)
	}
	if _, err := compileSchema(a.InputSchema); err != nil {
		return fmt.Errorf("adapter %q: %w: its input schema: %w", a.ID, ErrInvalid, err)
	}
	return nil
}

func (a Adapter) fault() string {
	if strings.HasPrefix(a.ID, reservedIDPrefix) {
		return fmt.Sprintf("ids that begin with %q are kept for the surface", reservedIDPrefix)
	}
	if fault := toolNameFault(a.Name); fault != "" {
		return fault
	}
	if strings.TrimSpace(a.Description) == "" || len(a.Description) > MaxDescriptionBytes {
		return fmt.Sprintf("its description is empty or longer than %d bytes", MaxDescriptionBytes)
	}
	if a.Risk != "" {
		if err := a.Risk.Validate(); err != nil {
			return err.Error()
		}
	}
	if a.Make == nil {
		return "its Make function is nil"
	}
	return ""
}

func toolNameFault(name string) string {
	if !strings.HasPrefix(name, ToolPrefix) || len(name) == len(ToolPrefix) || len(name) > MaxToolNameBytes {
		return fmt.Sprintf("its name %.80q must begin with %q and have at most %d bytes", name, ToolPrefix, MaxToolNameBytes)
	}
	if name == RequestToolName {
		return fmt.Sprintf("the name %q is kept for the surface", name)
	}
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			continue
		}
		return fmt.Sprintf("its name %.80q may hold letters, digits, '_' and '-' only", name)
	}
	return ""
}

func isSpaceOrControl(r rune) bool { return r <= ' ' || r == 0x7f }

// Clone returns an adapter that shares nothing that can change but what Make closes over.
func (a Adapter) Clone() Adapter {
	a.InputSchema = bytes.Clone(a.InputSchema)
	return a
}
