// Package bridge lets OpenCode use our tools: it owns the MCP server on loopback that shows them, the configuration that OpenCode
// is given, and the one OpenCode process that serves every session.
//
// The space agent opens a [Link] for each session and drives OpenCode through it; the toolsync actor calls [Bridge.Sync] when what is
// active or approved has changed; a host starts and stops it.
//
// Nothing but the person's login is taken from them. OpenCode sees the bridge's configuration folder, a home folder of the bridge
// (it would look into ~/.opencode too), and the person's data folder, where `opencode auth login` keeps logins. With
// ServerOptions.IsolateIn not even that.
//
// # Promises
//
//   - Loud. [Bridge.Start] fails if the server cannot listen or the configuration cannot be written; then nothing is left behind, and it
//     may be tried again.
//   - Cheap until used. Start runs no process. The first [Bridge.Open] starts OpenCode, however many come at once; one that has died, was
//     killed or does not answer is replaced by the next one.
//   - Ours only. OpenCode's own tools are denied by the configuration, in the order of rules on which that depends, so that no version
//     offers them to the model. What is there comes from our tool surface: active and approved.
//   - Apart. Each session has a directory, and in it an MCP endpoint on a path that cannot be guessed. A session's model sees and calls
//     that session's tools, and no others, though all are served by one process.
//   - Concurrency. Everything here may be called by several goroutines. Opens of one session go one after another. There are no
//     goroutines of its own.
//   - Blocking. Open blocks for the start of OpenCode (seconds) and for the connection (up to a second), later for a millisecond. It ends
//     with its context and with [Bridge.Stop].
//   - Idle. A link that is not opened for [Options.IdleTimeout] and has no turn is closed when another session opens one.
//   - Stop. When [Bridge.Stop] has returned, no process is left, calls have ended and the port is free. A bridge is started once.
//   - Privacy. The configuration may hold keys: it is readable by its owner only. Logs hold no tokens, paths of endpoints or configuration.
//
// # Example
//
//	br, err := bridge.New(runtime.Tools(), bridge.Params{Home: filepath.Join(dataDir, "agent-opencode")}, nil)
//	err = br.Start(ctx)
//	defer br.Stop(context.WithoutCancel(ctx))
//	link, err := br.Open(ctx, presets.Caller{SessionID: id, AgentID: "space"})
//	binding, err := link.Bind(mcp.Turn{Caller: caller, Call: call})
//	defer binding.Release()
//	session, err := link.Client().CreateSession(ctx, opencode.NewSession{Title: "…"})
package bridge
