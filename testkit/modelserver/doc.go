// Package modelserver is a model that says what a script tells it: an HTTP server on loopback that speaks the wire
// protocols of OpenAI (Chat Completions and Responses), Anthropic (Messages) and Gemini (generateContent), streaming and not.
//
// It is for tests of anything that talks to a model over HTTP: agent runtimes, command line agents and SDK clients. OpenCode,
// Claude Code, Codex and Gemini CLI have each been driven through turns with reasoning and tool calls by it. Nothing outside
// tests imports it.
//
// # Script
//
// A [Step] pairs a condition with a [Reply]. Each request takes the first step that matches and is not used up. Steps without
// conditions are told one after the other:
//
//	[]Step{{Reply: Call("echo", `{"text":"hi"}`)}, {Reply: Say("done")}}
//
// Conditions look at the offered tools, the newest messages, the model, and at [Request.TurnStep], which is read from the
// conversation itself; so a script of conditions with [Always] serves any number of conversations at once. A reply can be slow,
// hang until [Server.Release], break off, fail with a status, or be broken JSON.
//
// # Promises
//
//   - Every request is recorded before it is answered, with the step that was chosen; [Server.Await] sees every change of a
//     request's [Outcome]. Order is order of arrival.
//   - Requests that clients make for themselves (titles and such) use up no step.
//   - A request that no step is for gets status 400, is listed by [Server.Unscripted], and fails a test that used [New].
//   - Whoever has seen a request as [Hanging] and calls Release lets it go; there is no gap between.
//   - [Server.Close] ends everything: hanging answers, open connections, its goroutine.
//   - The server listens on loopback only. Bodies and the number of remembered requests are bounded.
package modelserver
