package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"

	"agentd/persistence/jsonfile/atomicfile"
)

// ServerName is the name of our MCP server in OpenCode. OpenCode puts it, and a '_', before the name of each of its tools.
const ServerName = "space"

// permissionRules hide OpenCode's own tools from the model and let ours through. Of several rules that match the last one counts, so their order
// has to stay as it is.
const permissionRules = `{"*":"deny","` + ServerName + `_*":"allow"}`

// config is OpenCode's configuration. Our MCP server is not in it: it is added in the directory of each session, with a URL of its own.
type config struct {
	Schema     string          `json:"$schema"`
	AutoUpdate bool            `json:"autoupdate"`
	Share      string          `json:"share"`
	Snapshot   bool            `json:"snapshot"`
	Permission json.RawMessage `json:"permission"`
	Provider   json.RawMessage `json:"provider,omitempty"`
	// Experimental has the time that version 1.2 gives a tool of an MCP server that was added at run time, whatever was said when it was added.
	Experimental experimental `json:"experimental"`
}

type experimental struct {
	// MCPTimeout is in milliseconds.
	MCPTimeout int64 `json:"mcp_timeout"`
}

// writeConfig writes OpenCode's configuration, whole or not at all. It may hold keys, so it is its owner's only.
func writeConfig(path string, options Options) error {
	doc := config{
		Schema: "https://opencode.ai/config.json",
		Share:  "disabled",
		// Without its own tools OpenCode changes no files, so there is nothing to take snapshots of.
		Snapshot:   false,
		Permission: json.RawMessage(permissionRules),
		Provider:   bytes.TrimSpace(options.Provider),

		Experimental: experimental{MCPTimeout: options.ToolTimeout.Milliseconds()},
	}
	if err := atomicfile.WriteJSON(path, doc); err != nil {
		return fmt.Errorf("writing OpenCode's configuration: %w", err)
	}
	return nil
}
