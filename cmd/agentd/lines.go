package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"agentd/messages"
)

// pipedLines reads lines from a pipe or a file.
type pipedLines struct{ scanner *bufio.Scanner }

var _ lineSource = (*pipedLines)(nil)

func newPipedLines(a *app) *pipedLines {
	scanner := bufio.NewScanner(a.stdin)
	scanner.Buffer(nil, messages.MaxInputBytes+2)
	return &pipedLines{scanner}
}

// line implements [lineSource].
func (p *pipedLines) line(ctx context.Context) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if p.scanner.Scan() {
		return p.scanner.Text(), nil
	}
	switch err := p.scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return "", fmt.Errorf("reading the next line: it has more than %d bytes: %w", messages.MaxInputBytes, messages.ErrTooLarge)
	case err != nil:
		return "", fmt.Errorf("reading the next line: %w", err)
	default:
		return "", io.EOF
	}
}

// close implements [lineSource].
func (*pipedLines) close() error { return nil }
