// Package space is the agent that works with OpenCode: it hands each prompt to a session of OpenCode, which calls our tools over MCP, and
// makes durable items of what happens there. Which tools there are, and at what risk, is up to the presets; the bridge
// (providers/opencode/bridge) shows them to OpenCode. Hosts register it; nobody else imports it.
//
// Promises:
//
//   - Session. The id of the OpenCode session is kept in the session's data, under [DataKey]. It is checked before it is used again. It is
//     replaced when OpenCode says for certain that it does not know it, and never because of another failure; an event item tells of it.
//   - Order. The items of a turn come as: reasoning and text of the model as drafts while they grow, each tool call when it starts and when it
//     has ended, the last message with provider, model and the usage of all steps together, in the same append as the end of the turn.
//   - Calls. A tool of ours is recorded by the tool surface while it runs, under the id that OpenCode knows it by where that is known. What
//     never reached us (a tool that does not exist, one that OpenCode itself refused or ran) is recorded from what OpenCode tells. Each call
//     has one item and one result, whatever is told twice.
//   - Audit. After a turn, and after each break in the stream of events, the messages are fetched. Only those that answer this turn's prompt
//     count. If they cannot be fetched the turn fails; half an answer is not passed off as a whole one. An answer of one step without a
//     call, of which the unbroken events have told the whole, is not fetched again.
//   - Cancel. It aborts OpenCode's turn and returns when that is over: the model's connection closed, tools ended, shells gone. Calls that wait
//     for a person do not run any more. The runtime waits [CancelGrace] for it.
//   - Failures. A provider's error, an OpenCode that dies or hangs, retries without end, an answer without a word of a model that did nothing either: the turn fails with the cause and says what
//     to do. An OpenCode that does not answer is stopped, so that the next turn gets a fresh one.
//   - Nobody hangs. What OpenCode asks a person by its own means is refused with a reason for the model: approvals are agentd's.
//   - Several sessions run at once. In one session a turn begins when the one before it has really left OpenCode.
//   - Turns that follow each other within half a minute share a connection to OpenCode: one request hands the prompt over, one fetches the answer
//     if it has to be.
//   - It starts no goroutines of its own. A kept connection ends with its time, or with OpenCode.
//
// Example:
//
//	br, err := bridge.New(rt.Tools(), bridge.Params{Home: home}, nil)
//	// br.Start, rt.SyncTools(br)
//	err = space.Register(agents, br, space.Options{Model: opencode.Model{ProviderID: "opencode", ModelID: "big-pickle"}})
//	head, err := rt.CreateSession(ctx, space.ID, actors.CreateOptions{})
package space
