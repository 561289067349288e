package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/messages"
	"agentd/presets"
)

// Tool is one entry of a [Registry]. Do not change the schema; it is shared.
type Tool struct {
	// Name is what clients see: 1 to 128 letters, digits, '_', '-' and '.'. Required.
	Name string
	// Description tells a model what the tool does. Required.
	Description string
	// InputSchema is the JSON Schema of the arguments: an object whose type is "object". Required.
	InputSchema json.RawMessage
	// Source is what the tool is made of, a preset tool's id. A client sees it in the tool's metadata. May be empty.
	Source string
	// Risk is what the tool may do. A client sees it in the tool's metadata and annotations. Empty means that nothing is said.
	Risk messages.Risk
	// Idempotent says that a repeat does no more than the first run.
	Idempotent bool
	// Handler runs one call. The arguments are not checked yet. It answers failures of the tool with a result; a
	// [jsonrpc.Error] becomes an error of the protocol. Required.
	Handler sdk.ToolHandler
}

// presetTool makes an entry of a tool of the surface.
func presetTool(tool presets.Tool, handler sdk.ToolHandler) Tool {
	return Tool{
		Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema, Source: tool.ID,
		Risk: tool.Risk, Idempotent: tool.Idempotent, Handler: handler,
	}
}

// Metadata of a listed tool, beside what the protocol has words for.
const (
	metaSource = "agentd/source"
	metaRisk   = "agentd/risk"
)

// listed is the tool as clients are shown it.
func (t Tool) listed() *sdk.Tool {
	out := &sdk.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}
	meta := sdk.Meta{}
	if t.Source != "" {
		meta[metaSource] = t.Source
	}
	if t.Risk != "" {
		meta[metaRisk] = string(t.Risk)
		destructive := t.Risk != messages.RiskNormal && t.Risk != messages.RiskFilesystemRead
		out.Annotations = &sdk.ToolAnnotations{
			ReadOnlyHint: t.Risk == messages.RiskFilesystemRead, IdempotentHint: t.Idempotent, DestructiveHint: &destructive,
		}
	}
	if len(meta) > 0 {
		out.Meta = meta
	}
	return out
}

// same reports whether clients see no difference between the two. Handlers cannot be compared; those of one owner do the same.
func (t Tool) same(other Tool) bool {
	t.Handler, other.Handler = nil, nil
	return reflect.DeepEqual(t, other)
}

// validate returns an error that wraps [ErrInvalid] and names the tool and its first fault. The engine panics over most of them.
func (t Tool) validate() (err error) {
	if fault := t.fault(); fault != "" {
		return fmt.Errorf("tool %.140q: %w: %s", t.Name, ErrInvalid, fault)
	}
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("tool %q: %w: %v", t.Name, ErrInvalid, fault)
		}
	}()
	// The engine itself is the judge of schemas.
	sdk.NewServer(&sdk.Implementation{Name: "check"}, nil).AddTool(t.listed(), t.Handler)
	return nil
}

func (t Tool) fault() string {
	if t.Name == "" || len(t.Name) > 128 || strings.ContainsFunc(t.Name, func(r rune) bool { return !nameRune(r) }) {
		return "its name must be 1 to 128 letters, digits, '_', '-' and '.'"
	}
	switch {
	case strings.TrimSpace(t.Description) == "":
		return "its description is empty"
	case len(t.InputSchema) == 0:
		return "its input schema is empty"
	case t.Handler == nil:
		return "its handler is nil"
	}
	return ""
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.'
}
