// Package opencode drives OpenCode through its own server: it starts and stops `opencode serve` and speaks its HTTP
// interface and its event stream.
//
// The space agent uses it for its turns, the bridge for its MCP server, `agentd doctor` for what is installed. There is no
// interface that it shares with other providers; OpenCode's sessions, events and errors are passed on as they are, typed.
//
// # Promises
//
//   - Server: [StartServer] returns a server that listens on a free port of loopback, behind a password made for it, with the
//     configuration folder that it was given and nothing of the person's configuration. By default it is silent and offline: no
//     catalogue, no packages, no updates. A failed start leaves no process and says what OpenCode said.
//   - Stop: [Server.Stop] aborts the turns that run, closes the instances, then signals twice, then kills. When it has returned
//     nothing of the server is left, the shell commands of the model included, though each has a session of its own. The
//     same holds when the server dies or is killed (on Linux; elsewhere a shell that is orphaned by a kill -9 may live on).
//   - Death: [Server.Done] closes when the process has ended. Calls that are under way, prompts and event streams then fail with
//     [ErrServerExited] and the reason, not with a broken connection.
//   - Errors: every failure is one of the sentinels of this package, in all versions. [ErrSessionNotFound] is definite. A turn that
//     failed is an error though the server calls it a success, and comes with its message.
//   - Events: [Client.Events] returns when the subscription stands; what happens after is told in order, and nothing is dropped for a
//     slow reader. There is no replay: after a break the stream comes back by itself and says so with a [Gap]. What is not
//     known is kept as [Unknown] with its Raw text, and so are unknown parts and fields.
//   - Answers: [Client.Answers] returns the messages of one turn and never those of another.
//   - Blocking: calls end with their context or after [ClientOptions].CallTimeout; [Client.Prompt] blocks for the turn, and a context that ends
//     does not end the turn: [Client.Abort] does, within about half a second.
//   - Bounds: answers, events and quoted texts are bounded. Redirects are not followed and no proxy is used, so the password goes to
//     the server alone. It is in no error and no log. It is in the environment of the model's shell commands, because OpenCode
//     passes its own on: deny the tool "bash" where that matters.
//
// # Versions
//
// Tried against 1.18.33, 1.17.19 and 1.2.27. What differs, and what this package makes of it:
//
//   - Unknown session, model or agent in a prompt: 1.18 and 1.17 answer 404, or 500 without a reason; 1.2 answers 200 with an
//     empty body, and 204 to an asynchronous prompt whatever it says. The package asks what exists and returns the right error.
//   - Deleting an unknown session, answering an unknown permission request or question: 1.2 says true. The package asks first.
//   - [Client.ConnectMCP] for an unknown name: [ErrMCPServerNotFound] in 1.18 and 1.17, nil in 1.2, where [Client.MCPServers] also leaves
//     out the servers that were added at run time, so that it cannot be asked for.
//   - A malformed session id: 500, in 1.2 400. The package refuses it itself, as [ErrSessionNotFound].
//   - [PromptParams].Tools with wildcards, and the rules of a session: 1.18 and 1.17 hide denied tools from the model, 1.2 offers them and
//     refuses the call. Only "permission" in the configuration hides them in all.
//   - Rate limits: 1.18 gives up after five retries, 1.17 and 1.2 go on for ever. Watch for [SessionStatus] with [Retrying] and abort.
//   - An aborted turn: 1.18 and 1.17 keep the partial text in the message, 1.2 stores it empty; only the events had it. 1.18 and 1.17 call an
//     aborted shell command completed, with a note in its output, 1.2 calls it an error. An abort between two retries
//     leaves neither error nor end in 1.18 and 1.17 ([ErrIncomplete]) and is [ErrAborted] in 1.2.
//   - Events have no id in 1.2, and those about a session have its id inside of "info" only.
//   - A tool of an MCP server that takes long: 1.2 does not look at [MCPRemote].Timeout and gives it up after 60 s, unless "experimental":
//     {"mcp_timeout": MILLISECONDS} in the configuration says more, and after five minutes in any case. 1.18 and 1.17 have waited as long as they
//     were told to, with progress notifications on the way.
//   - Metadata of a permission request: the command in 1.18 and 1.17, empty in 1.2; the arguments are in the tool part in all.
//
// # Example
//
// A turn with its text as it comes. The events are subscribed to before the prompt, because they are not told again.
//
//	server, err := opencode.StartServer(ctx, opencode.ServerParams{
//		Path: "opencode", Dir: project, ConfigHome: configHome,
//	}, nil)
//	if err != nil {
//		return err
//	}
//	defer server.Stop(context.WithoutCancel(ctx))
//	client := server.Client()
//	events, err := client.Events(ctx, nil)
//	if err != nil {
//		return err
//	}
//	defer events.Close()
//	session, err := client.CreateSession(ctx, opencode.NewSession{Title: "greeting"})
//	if err != nil {
//		return err
//	}
//	err = client.PromptAsync(ctx, session.ID, opencode.PromptParams{Text: "Say hello.", Model: model})
//	if err != nil {
//		return err
//	}
//	for event := range events.C() {
//		switch body := event.Body.(type) {
//		case opencode.PartDelta:
//			fmt.Print(body.Delta)
//		case opencode.SessionError:
//			return body.Err
//		case opencode.SessionIdle:
//			return nil
//		}
//	}
//	return events.Err()
package opencode
