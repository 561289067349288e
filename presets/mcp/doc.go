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
package mcp
