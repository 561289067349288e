package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// unwindTimeout is how long handlers get to return once they are cancelled, and the input to end once it is closed.
const unwindTimeout = 100 * time.Millisecond

// RunStdio serves one client over two streams, one JSON-RPC message a line, until the input ends, the context ends, or the client breaks
// a rule. It puts the guards of [Guard] around the server, so a server is to be run once. It closes the input at the end if it can.
//
// A clean end (end of input, end of the context) returns nil, after requests under way had [StdioOptions.DrainTimeout] to end.
// Otherwise the error wraps [ErrLineTooLong], [ErrHandshakeTimeout], [ErrInvalid] (an option), or what reading or writing failed with.
// It does not wait for a handler that ignores its context, nor for a client that does not read: it returns all the same, and what is
// left of them goes on until the process ends.
func RunStdio(ctx context.Context, server *sdk.Server, in io.Reader, out io.Writer, opts *StdioOptions) error {
	options := opts.withDefaults()
	if err := options.validate(); err != nil {
		return fmt.Errorf("serving over stdio: %w", err)
	}
	if err := Guard(server, options.Guard); err != nil {
		return fmt.Errorf("serving over stdio: %w", err)
	}
	conn := newStdioConn(in, out, options)
	session, err := server.Connect(ctx, conn, nil)
	if err != nil {
		return fmt.Errorf("serving over stdio: %w", err)
	}
	go conn.readInput()
	done := make(chan error, 1)
	go func() { done <- session.Wait() }()
	defer context.AfterFunc(ctx, conn.stopReading)()

	err = awaitEnd(ctx, conn, done)
	if conn.failed() {
		err = conn.failure()
	}
	_ = conn.Close() // It never fails. It also lets the goroutine that reads go.
	closeInput(in, conn.ended)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("serving over stdio: %w", err)
	}
	return nil
}

// awaitEnd waits for the session to end, and no longer than a limit once the connection is over.
func awaitEnd(ctx context.Context, conn *stdioConn, done <-chan error) error {
	limit := unwindTimeout
	select {
	case err := <-done:
		return err
	case <-conn.over: // The requests under way had their time already.
	case <-conn.closed:
	case <-ctx.Done():
		limit += conn.options.DrainTimeout
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return nil
	}
}

// closeInput closes the input, so that whoever reads it comes back. A terminal or a file may not let it go; that is no reason to wait.
func closeInput(in io.Reader, ended <-chan struct{}) {
	closer, ok := in.(io.Closer)
	if !ok {
		return
	}
	_ = closer.Close() // Whatever it says, nothing more is read.
	timer := time.NewTimer(unwindTimeout)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
}
