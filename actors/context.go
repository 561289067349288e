package actors

import (
	"strings"
	"unicode/utf8"

	"agentd/messages"
	"agentd/presets"
)

// TurnContext is what an agent is given for one turn. It is not to be changed, and valid until the turn has ended.
type TurnContext struct {
	// Input is the person's text.
	Input string
	// Session is the session as it was stored when the turn started, the input included.
	Session SessionView
	// Turn reports what happens.
	Turn *TurnController
	// Tools lists and calls the tools that are active and approved for this session.
	Tools *TurnTools
	// Presets shows which presets are active, and asks for others. It cannot override.
	Presets *presets.View
	// Agents are the other agents of the runtime.
	Agents *Agents
	// App and Providers are what the host gave in [Deps].
	App       any
	Providers any
	// ArtifactDir is the session's folder for files that it makes. It is made when a tool first runs, see [TurnTools.Call]; an agent that
	// writes there itself makes it first.
	ArtifactDir string
	// WorkspaceRoot is the folder that the workspace tools work in.
	WorkspaceRoot string
	// DataDir is the runtime's data directory, or empty with a store that has none.
	DataDir string
}

// SessionView is a session at one moment. The items and the turn in the head are shared and not to be changed.
type SessionView struct {
	Head  messages.Head
	Items []*messages.Item
}

// cleaned gives an item an id if it has none, and makes its text valid UTF-8, since it may come from anywhere.
func cleaned(item messages.Item) messages.Item {
	if item.ID == "" {
		item.ID = messages.NewItemID()
	}
	for _, field := range []*string{&item.Content, &item.Name, &item.Arguments, &item.Output, &item.Error} {
		*field = valid(*field)
	}
	return item
}

func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
