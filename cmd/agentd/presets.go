package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentd/cmd/internal/screen"
	"agentd/messages"
	"agentd/presets"
)

type presetLine struct {
	Kind     string           `json:"kind"`
	Name     string           `json:"name"`
	Group    string           `json:"group,omitempty"`
	Risk     messages.Risk    `json:"risk"`
	Override presets.Override `json:"override"`
	Active   bool             `json:"active"`
	Reason   presets.Cause    `json:"reason,omitempty"`
	Tools    []string         `json:"tool-ids"`
}

func newPresets(a *app) *cobra.Command {
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the presets", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listPresets(cmd.Context(), asJSON) },
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON lines; see \"agentd help json-lines\"")
	set := &cobra.Command{
		Use: "set NAME auto|on|off", Short: "Turn a preset on or off, or leave it to its default", Args: cobra.ExactArgs(2),
		ValidArgsFunction: a.completePresetSet,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.setPreset(cmd.Context(), args[0], args[1]) },
	}
	cmd := &cobra.Command{
		Use: "presets", Aliases: []string{"preset"}, Short: "See which tools agents may use, and turn presets on and off",
		Long: "A preset is a named set of tools of one risk. Without a command below it, it lists them.\nA preset that is on may still need an approval for each call: see \"agentd approvals\".",
		Args: cobra.NoArgs, RunE: list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, set)
	return cmd
}

func (a *app) completePresetSet(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.completePresets(cmd, args, begun)
	case 1:
		return completeWords("auto", "on", "off")(cmd, args, begun)
	default:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *app) listPresets(ctx context.Context, asJSON bool) error {
	dir, err := a.home()
	if err != nil {
		return err
	}
	manager, err := loadPresets(ctx, dir, a.logger())
	if err != nil {
		return err
	}
	lines := presetLines(manager)
	if asJSON {
		for _, line := range lines {
			if err := (jsonLines{a.stdout}).write(line); err != nil {
				return err
			}
		}
		return nil
	}
	rows := make([][]string, len(lines))
	for i, line := range lines {
		active := "no"
		if line.Active {
			active = "yes"
		}
		if line.Reason != "" {
			active += " (" + string(line.Reason) + ")"
		}
		rows[i] = []string{line.Name, string(line.Risk), string(line.Override), active, strings.Join(line.Tools, " ")}
	}
	columns, _ := a.size()
	return screen.Table(a.stdout, a.styles(), columns, []string{"PRESET", "RISK", "SET", "ACTIVE", "TOOLS"}, rows)
}

func presetLines(manager *presets.Manager) []presetLine {
	active, overrides := manager.Resolve("").Presets, manager.Overrides().Global
	var lines []presetLine
	for _, preset := range manager.Presets() {
		line := presetLine{
			Kind: "preset", Name: preset.Name, Group: preset.Group, Risk: preset.Risk, Override: presets.OverrideAuto, Tools: preset.ToolIDs,
		}
		if override, set := overrides[preset.Name]; set {
			line.Override, line.Reason = override, presets.CauseOverride
		}
		if i := slices.IndexFunc(active, func(p presets.ActivePreset) bool { return p.Name == preset.Name }); i >= 0 {
			line.Active, line.Reason = true, active[i].Cause
		}
		lines = append(lines, line)
	}
	return lines
}

// setPreset changes an override. It needs the data directory for itself, since the process that owns it holds the overrides in memory.
func (a *app) setPreset(ctx context.Context, name, word string) (err error) {
	override := presets.Override(word)
	if err := override.Validate(); err != nil {
		return &usageError{err: err}
	}
	dir, err := a.home()
	if err != nil {
		return err
	}
	store, err := a.own(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(ctx)) }()
	manager, err := loadPresets(ctx, dir, a.logger())
	if err != nil {
		return err
	}
	if err := manager.SetOverride(ctx, "", name, override); err != nil {
		if errors.Is(err, presets.ErrUnknownPreset) {
			return fmt.Errorf("%w: there are %s", err, strings.Join(presetNames(manager), ", "))
		}
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s is %s\n", name, override)
	return err
}

func presetNames(manager *presets.Manager) []string {
	var names []string
	for _, preset := range manager.Presets() {
		names = append(names, preset.Name)
	}
	return names
}
