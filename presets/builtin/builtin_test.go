package builtin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/builtin"
)

func TestAll(t *testing.T) {
	t.Parallel()
	bundles, err := builtin.All(nil)
	if err != nil {
		t.Fatal(err)
	}
	manager, err := presets.NewManager(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := manager.Install(bundles...); err != nil {
		t.Fatal(err)
	}
	want := map[string]messages.Risk{
		"drawing": messages.RiskNormal, "workspace-read": messages.RiskFilesystemRead, "workspace-write": messages.RiskFilesystemWrite,
		"workspace-delete": messages.RiskDestructive, "shell": messages.RiskShell,
	}
	got := map[string]messages.Risk{}
	for _, active := range manager.Resolve("").Presets {
		got[active.Name] = active.Risk
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("active presets (-want +got):\n%s", diff)
	}
	prompts := map[string]string{}
	for _, fragment := range manager.Resolve("").Fragments {
		prompts[fragment.Preset] = fragment.Prompt
	}
	for _, tool := range manager.Resolve("").Tools {
		if tool.Risk != want[tool.Preset] || !strings.HasPrefix(tool.Name, presets.ToolPrefix) {
			t.Errorf("tool %s has risk %s, want that of %s", tool.Name, tool.Risk, tool.Preset)
		}
		if !strings.Contains(prompts[tool.Preset], tool.Name) {
			t.Errorf("the prompt of %s does not tell of %s", tool.Preset, tool.Name)
		}
	}
	if err := manager.Install(bundles[0]); err == nil {
		t.Error("a bundle was installed twice")
	}
}
