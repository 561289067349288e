// Package mcp shows tools to other agents over the Model Context Protocol: over stdio for a client that starts us, and over HTTP on
// loopback for an agent that we start. It stands on the Go SDK of the protocol and puts around it what the SDK leaves open.
//
// # Promises of the stdio transport ([RunStdio])
//
//   - One message a line. A line longer than [StdioOptions.MaxLineBytes] (carriage return counted, line feed not) ends the connection with
//     [ErrLineTooLong] and no answer; the count starts anew with each line.
//   - What is not JSON is answered -32700, what is not a message of the protocol -32600, a batch too, and the session goes on. The id of such an answer is
//     null, unless it is known which request is meant.
//   - A client that has not introduced itself within [StdioOptions.HandshakeTimeout] is given up with [ErrHandshakeTimeout]. A first request that introduces
//     nobody is answered -32600, and the clock goes on.
//   - Both lifecycles are served: initialize (2024-11-05 to 2025-11-25), and requests that each carry their version (2026-07-28). Once a connection has begun in the newer one, every
//     request must carry it; one that does not is answered -32602. An initialize that asks for the newer one gets 2025-11-25.
//   - An id is in use until its request is answered, or its handler has returned if it was cancelled. A second request of that id is refused.
//   - A cancelled request is not answered, and the context of its handler ends at once.
//   - At the end of the input, or of the context, requests under way have [StdioOptions.DrainTimeout] to end and are answered; then they are cancelled.
//   - RunStdio returns within that time and a little more, whatever handlers and clients do.
//
// # Promises of every transport ([Guard])
//
//   - A handler that panics is answered "internal_error", and the session lives. The client is not told what the panic said.
//   - At most [GuardOptions.MaxConcurrent] tool calls run at one time. One beyond is answered "busy" at once. A call holds its place until its handler returns.
//   - Methods that the server does not have are answered -32601, even those that the SDK would answer with an empty list.
//
// Two subscriptions on one stdio connection end together when one of them is cancelled; that is a fault of SDK 1.8.0. Clients open one.
//
// # Promises of the tools ([Registry], [Sync], [ToolServer])
//
//   - Owners. A tool belongs to who registered it. A name that another owner has is refused before anything changes, and the error names tool and owner.
//     Nobody's tools are touched but one's own.
//   - One burst. A sync compares, and applies the difference at once, so that clients are told once. A tool whose schema, description, source or
//     risk differs is a change. A first sync that fails leaves nothing behind.
//   - Never stale. A list is synced before it is answered, so it holds nothing that is not active and approved now. While nobody can say what is
//     approved, it holds what needs no approval.
//   - Bound to a turn. Calls are let in while a [Turn] is bound, on behalf of its session, and recorded by its recorder. At its end they are cancelled.
//   - Gone means gone. A call ends when its client cancels it or goes away, when its turn ends, and when its server stops; if it waits for a
//     person then, it is never run. One that runs is interrupted. (A client of a mount with an event store may come back.)
//   - Failures are results. A denial, an approval that is required, and a tool's fault are results with structured content. A client that is asked for an approval and
//     does not answer in the form of the question has denied it. Errors of the protocol
//     are for unknown tools and bad requests only.
//   - A client that gave a progress token is told every so often that its call goes on.
//   - No goroutines but these: one for each call with a progress token, which ends before the call does. A sync runs on the goroutine that asks for it, and blocks
//     as long as the approvals take to answer: an actor asks for it from a worker, not from its mailbox.
//
// # Promises of the HTTP front ([HTTPServer])
//
//   - Loopback, unless that is waived by name; the error names the host. Host, Origin (of a GET too) and bearer token are checked before anything of a
//     request is read.
//   - Each session of ours has its own [Endpoint] on a path of 128 random bits, or, behind the token, on the root. What is seen, called and recorded there is that session's. Endpoints come and go while it runs.
//   - Both lifecycles are served on one URL, by the version header; the older transport (SSE) on another.
//   - Bounds: of bodies, of headers, of sessions for an endpoint, of the time of one write, and of results (by the surface). A session of a client ends some time
//     after its last request; a standing stream is a request.
//   - [HTTPServer.Stop] and [Endpoint.Close] end calls and sessions first, and return within their time limit whatever handlers do.
//
// # Example
//
//	server, _ := mcp.NewHTTPServer(surface, nil)
//	server.Start(ctx)
//	defer manager.OnChange(func(c presets.Change) { server.Sync(ctx, c) })()    // or an actor does
//	endpoint, _ := server.Open(ctx, presets.Caller{SessionID: id, AgentID: "space"})
//	// The agent's configuration: {"url": endpoint.URL(), "headers": endpoint.Headers()}
//	binding, _ := endpoint.Bind(mcp.Turn{Caller: caller, Recorder: recorder})
//	defer binding.Release()
package mcp
