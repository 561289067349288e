package builtin

import (
	"agentd/presets"
	"agentd/presets/builtin/drawing"
	"agentd/presets/builtin/shell"
	"agentd/presets/builtin/workspacedelete"
	"agentd/presets/builtin/workspaceread"
	"agentd/presets/builtin/workspacewrite"
)

// Options tune the built-in presets. The zero value is good.
type Options struct {
	// Shell tunes the shell preset. Nil means its defaults.
	Shell *shell.Options
}

// All returns the built-in presets, the mildest first. The error names a bad option.
func All(opts *Options) ([]presets.Bundle, error) {
	var options Options
	if opts != nil {
		options = *opts
	}
	commands, err := shell.New(options.Shell)
	if err != nil {
		return nil, err
	}
	return []presets.Bundle{drawing.New(), workspaceread.New(), workspacewrite.New(), workspacedelete.New(), commands}, nil
}
