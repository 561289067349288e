package shell

import (
	"cmp"
	"context"
	_ "embed" // The prompt stands beside the code.
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/builtin/folder"
	"agentd/presets/process"
)

const (
	// PresetName is the name of the preset.
	PresetName = "shell"
	// DefaultTimeout is how long a command may run.
	DefaultTimeout = time.Minute
	// MaxTimeout is the longest time that a model may ask for.
	MaxTimeout = 10 * time.Minute
	// DefaultMaxOutputBytes is how much output an answer holds.
	DefaultMaxOutputBytes = 32 << 10
	maxOutputBytes        = 40 << 10 // As JSON it may grow sixfold, and stays below what a surface lets through.
	maxCommandBytes       = 64 << 10
)

//go:embed shell.md
var promptText string

const schema = `{"type":"object","properties":{
"command":{"type":"string","minLength":1,"maxLength":65536,"description":"The command, as you would type it."},
"dir":{"type":"string","description":"The folder to run it in, relative to the workspace. Without it: the workspace itself."},
"timeout_seconds":{"type":"integer","minimum":1,"maximum":600,"description":"After how long it is ended; 60 without it."}},
"required":["command"],"additionalProperties":false}`

// errTimeUp is why a command is ended that took too long.
var errTimeUp = errors.New("the time of the command is up")

// Options tune the preset. The zero value is good.
type Options struct {
	// PassEnv names further variables of this process that a command gets. Think twice before naming one that holds a secret: its value is then
	// for every agent to read.
	PassEnv []string
	// Timeout is how long a command may run if the model does not say. Zero means [DefaultTimeout]; at most [MaxTimeout].
	Timeout time.Duration
	// MaxOutputBytes is how much output an answer holds. Zero means [DefaultMaxOutputBytes], which is near the most, 40 KiB.
	MaxOutputBytes int
	// Process tunes how a command is ended. Nil means the defaults of package process.
	Process *process.Options
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	out.Timeout = cmp.Or(out.Timeout, DefaultTimeout)
	out.MaxOutputBytes = cmp.Or(out.MaxOutputBytes, DefaultMaxOutputBytes)
	return out
}

func (o Options) validate() error {
	if o.Timeout < 0 || o.Timeout > MaxTimeout {
		return fmt.Errorf("shell preset: %w: Timeout is %s: give up to %s", presets.ErrInvalid, o.Timeout, MaxTimeout)
	}
	if o.MaxOutputBytes < 0 || o.MaxOutputBytes > maxOutputBytes {
		return fmt.Errorf("shell preset: %w: MaxOutputBytes is %d: give up to %d", presets.ErrInvalid, o.MaxOutputBytes, maxOutputBytes)
	}
	for _, name := range o.PassEnv {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("shell preset: %w: PassEnv holds %.40q, which is no name of a variable", presets.ErrInvalid, name)
		}
	}
	return nil
}

// New returns the preset and its tool. The error names a bad option.
func New(opts *Options) (presets.Bundle, error) {
	options := opts.withDefaults()
	if err := options.validate(); err != nil {
		return presets.Bundle{}, err
	}
	s := &shell{options: options}
	return presets.Bundle{
		Preset: presets.Preset{
			Name: PresetName, Group: "system", Risk: messages.RiskShell, Contexts: []presets.Pattern{{}}, ToolIDs: []string{"shell.run"}, Prompt: promptText,
		},
		Adapters: []presets.Adapter{{
			ID: "shell.run", Name: presets.ToolPrefix + "shell_run", Description: "Runs a command in the shell of the person's system, in the workspace.",
			InputSchema: json.RawMessage(schema), Risk: messages.RiskShell, Make: presets.Bind(s.run),
		}},
	}, nil
}

type shell struct {
	options Options
}

type arguments struct {
	Command        string `json:"command"`
	Dir            string `json:"dir"`
	TimeoutSeconds int    `json:"timeout_seconds"`
}

// answer is what came of a command.
type answer struct {
	// OK says that it ended by itself, with exit code zero.
	OK bool `json:"ok"`
	// ExitCode is -1 if a signal ended it.
	ExitCode int    `json:"exit_code"`
	Signal   string `json:"signal,omitempty"`
	TimedOut bool   `json:"timed_out,omitempty"`
	// Output is what it wrote to stdout and stderr, OutputBytes how much that was in all, CutBytes how much of it is left out here.
	Output      string `json:"output"`
	OutputBytes int64  `json:"output_bytes"`
	CutBytes    int64  `json:"cut_bytes,omitempty"`
	DurationMS  int64  `json:"duration_ms"`
	Note        string `json:"note,omitempty"`
}

func (s *shell) run(ctx context.Context, env presets.Env, in arguments) (presets.Result, error) {
	if len(in.Command) > maxCommandBytes || strings.ContainsRune(in.Command, 0) {
		return presets.Result{}, fmt.Errorf("command: it is longer than %d bytes or holds a NUL", maxCommandBytes)
	}
	dir, err := workingDir(env.WorkspaceRoot, in.Dir)
	if err != nil {
		return presets.Result{}, err
	}
	limit := s.options.Timeout
	if in.TimeoutSeconds > 0 {
		limit = min(time.Duration(in.TimeoutSeconds)*time.Second, MaxTimeout)
	}
	capture := process.NewCapture(s.options.MaxOutputBytes)
	params, err := command(in.Command)
	if err != nil {
		return presets.Result{}, err
	}
	params.Dir, params.Env, params.Stdout, params.Stderr = dir, s.environment(env.ArtifactDir), capture, capture
	timed, stop := context.WithTimeoutCause(ctx, limit, errTimeUp)
	defer stop()
	exit, err := process.Run(timed, params, s.options.Process)
	if err != nil && ctx.Err() != nil {
		return presets.Result{}, fmt.Errorf("running the command: %w", err)
	}
	return report(exit, err, limit, capture)
}

// report makes the answer of how a command ended.
func report(exit process.Exit, err error, limit time.Duration, capture *process.Capture) (presets.Result, error) {
	out := answer{
		OK: err == nil && exit.Success(), ExitCode: exit.Code, Signal: exit.Signal, Output: capture.String(),
		OutputBytes: capture.Total(), CutBytes: capture.Cut(), DurationMS: exit.Lifetime.Milliseconds(),
	}
	failed := false
	switch {
	case errors.Is(err, errTimeUp):
		failed, out.TimedOut = true, true
		out.Note = fmt.Sprintf("It was ended after %s, with everything that it had started.", limit)
	case errors.Is(err, process.ErrSurvivors):
		failed, out.Note = true, err.Error()
	case err != nil:
		return presets.Result{}, fmt.Errorf("starting the command: %w", err)
	}
	result, err := presets.JSON(out)
	result.IsError = failed
	return result, err
}

// workingDir returns the absolute path of a folder in the workspace.
func workingDir(root, path string) (string, error) {
	workspace, err := folder.Open(root)
	if err != nil {
		return "", fmt.Errorf("opening the workspace: %w", err)
	}
	defer workspace.Close()
	local, err := workspace.Local(path)
	if err != nil {
		return "", err
	}
	dir, err := workspace.OpenDir(local) // Refuses what is no folder, and links that leave the workspace.
	if err != nil {
		return "", err
	}
	_ = dir.Close()
	return filepath.Join(workspace.Path(), local), nil
}
