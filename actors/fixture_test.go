package actors_test

import (
	"errors"
	"strings"
	"testing"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence"
	"agentd/testkit"
)

// start starts a runtime with one scripted agent, "a".
func start(t *testing.T, agent actors.Agent, opts *testkit.Options) *testkit.Runtime {
	t.Helper()
	if opts == nil {
		opts = &testkit.Options{}
	}
	opts.Agents = map[messages.AgentID]actors.Agent{"a": agent}
	return testkit.NewRuntime(t, opts)
}

// assistant is a message of the assistant.
func assistant(text string) messages.Item {
	return messages.Item{Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: text}
}

// inputs are the texts of the person, in order.
func inputs(items []*messages.Item) []string {
	var texts []string
	for _, item := range items {
		if item.Role == messages.RoleUser {
			texts = append(texts, item.Content)
		}
	}
	return texts
}

// itemsOf are the items of a type, in order.
func itemsOf(items []*messages.Item, kind messages.ItemType) []*messages.Item {
	var found []*messages.Item
	for _, item := range items {
		if item.Type == kind {
			found = append(found, item)
		}
	}
	return found
}

// wantError fails the test if the error does not wrap the target and name everything that it should.
func wantError(t *testing.T, call string, err, target error, names ...string) {
	t.Helper()
	if err == nil || target != nil && !errors.Is(err, target) {
		t.Fatalf("%s = %v, want %v", call, err, target)
	}
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s = %v, want an error that names %q", call, err, name)
		}
	}
}

// stored reads a session from the store itself.
func stored(t *testing.T, store persistence.Store, id messages.SessionID) *messages.Document {
	t.Helper()
	doc, err := store.Read(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
