package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/actors"
	"agentd/actors/agents/space"
	"agentd/cmd/agentd/internal/home"
	"agentd/messages"
	"agentd/persistence"
	"agentd/presets"
)

func TestExitCodeOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{errors.New("something"), exitFailed},
		{persistence.ErrUnavailable, exitFailed},
		{&persistence.CorruptError{}, exitFailed},
		{misuse("wrong"), exitUsage},
		{messages.SessionID("../x").Validate(), exitUsage},
		{&home.AmbiguousError{Matches: []messages.SessionID{"a", "b"}}, exitUsage},
		{messages.ErrTooLarge, exitUsage},
		{errInterrupted, exitCancelled},
		{context.Canceled, exitCancelled},
		{persistence.ErrLocked, exitInUse},
		{persistence.ErrNotFound, exitNotFound},
		{persistence.ErrDeleted, exitNotFound},
		{actors.ErrUnknownAgent, exitNotFound},
		{presets.ErrUnknownPreset, exitNotFound},
		{presets.ErrUnknownGrant, exitNotFound},
		{&toldError{code: exitDenied}, exitDenied},
	} {
		err := test.err
		if err != nil {
			err = fmt.Errorf("doing it: %w", err)
		}
		if got := exitCodeOf(err); got != test.want {
			t.Errorf("exitCodeOf(%v) = %d, want %d", err, got, test.want)
		}
	}
}

func TestExitCodesAreDocumented(t *testing.T) {
	t.Parallel()
	for code := exitOK; code <= exitDenied; code++ {
		if !strings.Contains("\n"+exitCodesTopic, fmt.Sprintf("\n%d  ", code)) {
			t.Errorf("the help does not tell of exit code %d", code)
		}
	}
}

func TestOutcomeExitCode(t *testing.T) {
	t.Parallel()
	denied := []deniedLine{{Tool: "t", Risk: messages.RiskShell}}
	for _, test := range []struct {
		status messages.TurnStatus
		denied []deniedLine
		want   int
	}{
		{messages.TurnCompleted, nil, exitOK},
		{messages.TurnCompleted, denied, exitDenied},
		{messages.TurnFailed, denied, exitFailed},
		{messages.TurnCancelled, nil, exitCancelled},
		{messages.TurnInterrupted, nil, exitCancelled},
	} {
		if got := (outcome{turn: messages.Turn{Status: test.status}, denied: test.denied}).exitCode(); got != test.want {
			t.Errorf("exitCode(%s, %v) = %d, want %d", test.status, test.denied, got, test.want)
		}
	}
}

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want presets.Answer
		ok   bool
	}{
		{"o\n", presets.Answer{Verb: presets.ApproveOnce}, true},
		{" Once ", presets.Answer{Verb: presets.ApproveOnce}, true},
		{"a", presets.Answer{Verb: presets.ApproveAlways}, true},
		{"d not now", presets.Answer{Verb: presets.Deny, Reason: "not now"}, true},
		{"n", presets.Answer{Verb: presets.Deny}, true},
		{"", presets.Answer{}, false},
		{"on", presets.Answer{}, false},
		{"oo", presets.Answer{}, false},
	} {
		got, ok := parseAnswer(test.text)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("parseAnswer(%q) = %+v, %v, want %+v, %v", test.text, got, ok, test.want, test.ok)
		}
	}
}

func TestReadable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, want string }{
		{"plain", "a\x1b[31mb", "ab"},
		{"short object", `{"ok":true}`, `{"ok":true}`},
		{"array", `["a\nb"]`, `["a\nb"]`},
		{"lines", `{"ok":true,"text":"a\nb\n","n":1}`, "{\"ok\":true,\"n\":1}\ntext:\na\nb"},
		{"escapes in lines", `{"text":"a\u001b[2J\nb"}`, "{}\ntext:\na\nb"},
		{"denied without a reason", `{"args_hash":"f","status":"denied","message":""}`, "denied"},
		{"verdict", `{"args_hash":"f","status":"approval_required","message":"ask"}`, "approval required: ask"},
		{"not JSON", `{"ok":`, `{"ok":`},
	} {
		if got := readable(test.in); got != test.want {
			t.Errorf("readable(%s) = %q, want %q", test.name, got, test.want)
		}
	}
}

// A failing model provider is told in one line for each attempt, whatever it says.
func TestRetriesArePrinted(t *testing.T) {
	t.Parallel()
	hostile := "\x1b]0;owned\x07\x1b[31mslow\ndown\u202e"
	for _, test := range []struct {
		name  string
		retry space.Retry
		want  string
	}{
		{"first", space.Retry{Attempt: 1, Message: "Rate limit exceeded", NextAt: 1004}, "retry        Rate limit exceeded; attempt 1 in 4s\n"},
		{"minutes", space.Retry{Attempt: 3, Message: "Overloaded", NextAt: 1090}, "retry        Overloaded; attempt 3 in 1m30s\n"},
		{"due", space.Retry{Attempt: 2, Message: "Overloaded", NextAt: 999}, "retry        Overloaded; attempt 2 at once\n"},
		{"no message", space.Retry{Attempt: 2, NextAt: 1001}, "retry        the model call failed; attempt 2 in 1s\n"},
		{"hostile", space.Retry{Attempt: 2, Message: hostile, NextAt: 1 << 62}, "retry        slow down; attempt 2 in 8760h0m0s\n"},
		{"long", space.Retry{Attempt: 2, Message: strings.Repeat("x", 2000), NextAt: 1001}, "retry        " + strings.Repeat("x", 199) + "…; attempt 2 in 1s\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			a := &app{program: &program{stdout: &out, getenv: func(string) string { return "" }}}
			p := a.newTextPrinter()
			data, err := json.Marshal(test.retry)
			if err != nil {
				t.Fatal(err)
			}
			item := messages.Item{ID: "itm-retry", Type: messages.ItemEvent, EventType: space.EventRetry, Data: data, CreatedAt: 1000}
			for _, kind := range []messages.EventKind{messages.EventItem, messages.EventItemUpdated} { // The same twice is one line.
				if err := p.event(messages.Event{Kind: kind, Item: &item}); err != nil {
					t.Fatal(err)
				}
			}
			again := item
			again.UpdatedAt = 1003
			again.Data = json.RawMessage(`{"attempt":9,"message":"again","next-at":1004}`)
			if err := p.event(messages.Event{Kind: messages.EventItemUpdated, Item: &again}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want+"retry        again; attempt 9 in 1s\n", out.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

// An answer without a word is no line; the item has the usage.
func TestEmptyAnswersAreNotPrinted(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := (&app{program: &program{stdout: &out, getenv: func(string) string { return "" }}}).newTextPrinter()
	for _, content := range []string{"", "done"} {
		item := messages.Item{ID: messages.ItemID("itm-" + content), Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: content}
		if err := p.event(messages.Event{Kind: messages.EventItem, Item: &item}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff("assistant    done\n", out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

func TestTranscriptPairsCallsWithResults(t *testing.T) {
	t.Parallel()
	doc := &messages.Document{Head: messages.Head{ID: "s", AgentID: "a", TurnCount: 1, ItemCount: 6}, Items: []*messages.Item{
		{ID: "1", Type: messages.ItemMessage, Role: messages.RoleUser, Content: "do it"},
		{ID: "2", Type: messages.ItemToolCall, Name: "space_x", CallID: "c1", Arguments: `{"a":"` + "```" + `"}`},
		{ID: "3", Type: messages.ItemToolCall, Name: "space_y", CallID: "c2", Arguments: `{}`},
		{ID: "4", Type: messages.ItemToolResult, CallID: "c2", Output: "second"},
		{ID: "5", Type: messages.ItemToolResult, CallID: "c1", Output: "first", IsError: true},
		{ID: "6", Type: messages.ItemToolResult, CallID: "lost", Output: "alone"},
	}}
	_, body, _ := strings.Cut(string(transcript(doc)), "\n## User")
	want := "\n\ndo it\n\n### Tool call `space_x`\n\n````json\n{\"a\":\"```\"}\n````\n\nFailed:\n\n```text\nfirst\n```\n" +
		"\n### Tool call `space_y`\n\n```json\n{}\n```\n\nResult:\n\n```text\nsecond\n```\n\nResult:\n\n```text\nalone\n```\n"
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

func FuzzReadable(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"text":"a\nb"}`, `{"a\u0000":"\u001b[2J\n","args_hash":1,"status":"\u009b"}`, `[1`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, output string) {
		for _, r := range readable(output) {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("readable(%q) holds %U", output, r)
			}
		}
	})
}
