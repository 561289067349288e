package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/prompt"
)

func says(text string) prompt.Enricher {
	return func(context.Context, prompt.Subject) (string, error) { return text, nil }
}

// Checklist 39: what is registered appears, in order; what is removed vanishes; none is the default text.
func TestEnrichers(t *testing.T) {
	t.Parallel()
	var e prompt.Enrichers
	want := func(text string) {
		t.Helper()
		for range 20 { // The order is not that of a map.
			if got, err := e.Format(t.Context(), prompt.Subject{}); err != nil || got != text {
				t.Fatalf("Format() = %q, %v; want %q", got, err, text)
			}
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want(prompt.NoContext)
	for i := range 6 {
		must(e.Register(fmt.Sprint("e", 5-i), says(fmt.Sprint("text ", i))))
	}
	want("text 0\ntext 1\ntext 2\ntext 3\ntext 4\ntext 5")
	must(e.Register("e4", says("replaced\n")))
	must(e.Register("e3", says("")))
	want("text 0\nreplaced\ntext 3\ntext 4\ntext 5")
	e.Remove("e5")
	e.Remove("not there")
	want("replaced\ntext 3\ntext 4\ntext 5")
	if diff := cmp.Diff([]string{"e4", "e3", "e2", "e1", "e0"}, e.Names()); diff != "" {
		t.Errorf("Names() (-want +got):\n%s", diff)
	}
	for _, name := range e.Names() {
		e.Remove(name)
	}
	want(prompt.NoContext)
	if err := e.Register(" ", says("")); !errors.Is(err, prompt.ErrInvalid) {
		t.Errorf("Register without a name = %v", err)
	}
	if err := e.Register("x", nil); !errors.Is(err, prompt.ErrInvalid) {
		t.Errorf("Register without a function = %v", err)
	}
}

// Checklist 40: a failing enricher is named, and nothing is returned.
func TestFailingEnricher(t *testing.T) {
	t.Parallel()
	cause := errors.New("no world")
	for name, enricher := range map[string]prompt.Enricher{
		"error":    func(context.Context, prompt.Subject) (string, error) { return "half", cause },
		"panic":    func(context.Context, prompt.Subject) (string, error) { panic("no world") },
		"too much": says(strings.Repeat("x", prompt.MaxContextBytes+1)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e prompt.Enrichers
			for _, err := range []error{e.Register("good", says("fine")), e.Register("the bad one", enricher)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			text, err := e.Format(t.Context(), prompt.Subject{})
			if text != "" || !errors.Is(err, prompt.ErrEnricher) || !strings.Contains(err.Error(), `"the bad one"`) {
				t.Errorf("Format() = %q, %v", text, err)
			}
			if name == "error" && !errors.Is(err, cause) {
				t.Errorf("the cause is lost: %v", err)
			}
		})
	}
}

func TestEnrichersSeeTheSubject(t *testing.T) {
	t.Parallel()
	var e prompt.Enrichers
	err := e.Register("who", func(_ context.Context, s prompt.Subject) (string, error) {
		return string(s.Caller.SessionID) + " on " + s.Context.Surface, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	subject := prompt.Subject{Caller: presets.Caller{SessionID: "s1"}, Context: presets.Context{Surface: "app"}}
	if got, err := e.Format(t.Context(), subject); err != nil || got != "s1 on app" {
		t.Errorf("Format() = %q, %v", got, err)
	}
}

func TestEnrichersAreSafeForManyGoroutines(t *testing.T) {
	t.Parallel()
	var e prompt.Enrichers
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 100 {
				_ = e.Register(fmt.Sprint(i%3), says("x"))
				_, _ = e.Format(context.Background(), prompt.Subject{})
				e.Remove(fmt.Sprint(i % 3))
			}
		})
	}
	group.Wait()
}

// Checklist 41, first half.
func TestRenderTemplate(t *testing.T) {
	t.Parallel()
	values := map[string]string{"name": "Ann", "a_1": "one", "nested": "${name}", "empty": ""}
	for template, want := range map[string]string{
		"":                     "",
		"hello ${name}":        "hello Ann",
		"${name}${a_1}":        "Annone",
		"${missing} ${name}":   "${missing} Ann",
		"${empty}|":            "|",
		"${nested}":            "${name}",
		"$name ${na me} ${} $": "$name ${na me} ${} $",
		"${na-me}":             "${na-me}",
	} {
		if got := prompt.RenderTemplate(template, values); got != want {
			t.Errorf("RenderTemplate(%q) = %q, want %q", template, got, want)
		}
	}
}

// Checklist 41, second half.
func TestAssembleBlocks(t *testing.T) {
	t.Parallel()
	got := prompt.AssembleBlocks([]prompt.Block{
		{Name: "Instructions", Content: "Be brief.\n"}, {Content: "no name"}, {Name: "no content", Content: " \n"}, {Name: "Context", Content: "Noon."},
	})
	if want := "## Instructions\n\nBe brief.\n\n## Context\n\nNoon.\n"; got != want {
		t.Errorf("AssembleBlocks() = %q, want %q", got, want)
	}
	if got := prompt.AssembleBlocks(nil); got != "" {
		t.Errorf("AssembleBlocks(nil) = %q", got)
	}
}

func TestFormatPresets(t *testing.T) {
	t.Parallel()
	if got := prompt.FormatPresets(nil); got != prompt.NoPresets {
		t.Errorf("FormatPresets(nil) = %q", got)
	}
	active := []presets.ActivePreset{
		{Name: "shell", Risk: messages.RiskShell, Cause: presets.CauseOverride}, {Name: "drawing", Risk: messages.RiskNormal, Cause: presets.CauseContext},
	}
	want := "Active presets:\n- drawing (context, risk normal)\n- shell (override, risk shell)"
	if got := prompt.FormatPresets(active); got != want || active[0].Name != "shell" {
		t.Errorf("FormatPresets() = %q, want %q", got, want)
	}
	fragments := []presets.Fragment{{Preset: "drawing", Prompt: "Draw.\n"}, {Preset: "silent"}, {Preset: "shell", Prompt: "Run."}}
	if got, want := prompt.FormatFragments(fragments), "### drawing\n\nDraw.\n\n### shell\n\nRun."; got != want {
		t.Errorf("FormatFragments() = %q, want %q", got, want)
	}
}
