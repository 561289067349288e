package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdioConn is a guarded connection over two streams. It is its own transport, since it is connected once.
type stdioConn struct {
	// Set at construction.
	options StdioOptions
	lines   *lineReader
	input   chan []byte   // lines, from the goroutine that reads to Read
	ended   chan struct{} // closed when the input has ended; inputErr says how
	stop    chan struct{} // closed when no more is to be read
	closed  chan struct{} // closed when nothing is to be done any more
	over    chan struct{} // closed when Read has returned its last
	ledger  *ledger
	timer   *time.Timer // ends the connection if there is no handshake

	inputErr                    error // written before ended is closed
	stopOnce, closeOnce, atOver sync.Once

	outMu sync.Mutex
	out   io.Writer

	causeMu sync.Mutex
	cause   error // why it failed; nil for a clean end
}

// errNotWritten means that the client did not take what was written.
var errNotWritten = errors.New("not taken")

var (
	_ sdk.Transport  = (*stdioConn)(nil)
	_ sdk.Connection = (*stdioConn)(nil)
)

func newStdioConn(in io.Reader, out io.Writer, options StdioOptions) *stdioConn {
	c := &stdioConn{
		options: options, lines: newLineReader(in, options.MaxLineBytes), out: out,
		input: make(chan []byte), ended: make(chan struct{}),
		stop: make(chan struct{}), closed: make(chan struct{}), over: make(chan struct{}),
	}
	c.ledger = newLedger(func() { c.timer.Stop() })
	// It is made here and started in Connect, so that it never runs before the field is set.
	c.timer = time.AfterFunc(math.MaxInt64, func() {
		c.fail(fmt.Errorf("%w: nothing from the client within %s", ErrHandshakeTimeout, options.HandshakeTimeout))
	})
	c.timer.Stop()
	return c
}

// Connect implements [sdk.Transport]. It starts the clock of the handshake.
func (c *stdioConn) Connect(context.Context) (sdk.Connection, error) {
	c.timer.Reset(c.options.HandshakeTimeout)
	return c, nil
}

// readInput hands lines over until the input or the connection ends. The caller of newStdioConn runs it in a goroutine.
func (c *stdioConn) readInput() {
	defer close(c.ended)
	for {
		line, err := c.lines.next()
		if err != nil {
			c.inputErr = err
			return
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		select {
		case c.input <- line:
		case <-c.closed:
			return
		}
	}
}

// Read implements [sdk.Connection]. At the end it waits a while for requests that are under way, because the engine cancels
// them, and drops their answers, as soon as Read returns an error.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		message, err := c.readOne(ctx)
		if err != nil {
			c.atOver.Do(func() { close(c.over) })
			return nil, err
		}
		if message != nil {
			return message, nil
		}
	}
}

// readOne returns the next message, or nothing if a line came to none.
func (c *stdioConn) readOne(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, io.EOF
	case <-c.closed:
		return nil, io.EOF
	case <-c.stop:
		c.drain()
		return nil, io.EOF
	case <-c.ended:
		if errors.Is(c.inputErr, io.EOF) {
			c.drain()
			return nil, io.EOF
		}
		c.fail(c.inputErr)
		return nil, io.EOF
	case line := <-c.input:
		message, no := c.ledger.admit(line)
		if no == nil {
			return message, nil
		}
		c.options.Logger.Debug("A line of the client was refused.", slog.Int("code", no.code), slog.String("why", no.message))
		return nil, c.writeLine(no.encode())
	}
}

// drain waits until no request is under way, as long as the options say.
func (c *stdioConn) drain() {
	timer := time.NewTimer(c.options.DrainTimeout)
	defer timer.Stop()
	select {
	case <-c.ledger.drained():
	case <-timer.C:
	case <-c.closed:
	}
}

// Write implements [sdk.Connection].
func (c *stdioConn) Write(_ context.Context, message jsonrpc.Message) error {
	response, answers := message.(*jsonrpc.Response)
	if answers {
		defer c.ledger.settle(response.ID)
		if response = c.ledger.answer(response); response == nil {
			return nil // The client has cancelled it and expects no answer.
		}
		message = response
	}
	line, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return fmt.Errorf("encoding a message to the client: %w", err)
	}
	return c.writeLine(append(line, '\n'))
}

func (c *stdioConn) writeLine(line []byte) error {
	c.outMu.Lock()
	defer c.outMu.Unlock()
	select {
	case <-c.closed: // RunStdio may have returned, and the streams belong to its caller again.
		return io.ErrClosedPipe
	default:
	}
	if _, err := c.out.Write(line); err != nil {
		err = fmt.Errorf("writing to the client: %w: %w", errNotWritten, err)
		c.fail(err)
		return err
	}
	return nil
}

// Close implements [sdk.Connection].
func (c *stdioConn) Close() error {
	c.closeOnce.Do(func() {
		c.timer.Stop()
		close(c.closed)
	})
	return nil
}

// SessionID implements [sdk.Connection]. There is one session, and it needs no name.
func (c *stdioConn) SessionID() string { return "" }

// stopReading ends the connection in good order: what is under way may go on for a while.
func (c *stdioConn) stopReading() { c.stopOnce.Do(func() { close(c.stop) }) }

// fail ends the connection at once. The first cause stays.
func (c *stdioConn) fail(cause error) {
	c.causeMu.Lock()
	if c.cause == nil {
		c.cause = cause
	}
	c.causeMu.Unlock()
	_ = c.Close() // It never fails.
}

func (c *stdioConn) failed() bool {
	c.causeMu.Lock()
	defer c.causeMu.Unlock()
	return c.cause != nil
}

// failure returns why the connection failed, or nil. A client that goes closes both streams, in whatever order; that what was just written
// found no reader is then no fault. It waits a moment for the input to end.
func (c *stdioConn) failure() error {
	c.causeMu.Lock()
	cause := c.cause
	c.causeMu.Unlock()
	if !errors.Is(cause, errNotWritten) {
		return cause
	}
	timer := time.NewTimer(unwindTimeout)
	defer timer.Stop()
	select {
	case <-c.ended:
		if errors.Is(c.inputErr, io.EOF) {
			return nil
		}
	case <-timer.C:
	}
	return cause
}
