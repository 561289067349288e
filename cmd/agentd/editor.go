package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/peterh/liner"

	"agentd/persistence/jsonfile/atomicfile"
)

// editor reads lines from the terminal, with editing keys and history. Between lines the terminal is in its ordinary mode, so that Ctrl-C is a
// signal while a turn runs.
type editor struct {
	state   *liner.State
	out     io.Writer
	history string
	// plain and editing are the modes of the terminal.
	plain, editing liner.ModeApplier
}

var _ lineSource = (*editor)(nil)

func newEditor(a *app, history string) (*editor, error) {
	e := &editor{out: a.stdout, history: history}
	var err error
	if e.plain, err = liner.TerminalMode(); err != nil {
		return nil, fmt.Errorf("preparing the terminal: %w", err)
	}
	e.state = liner.NewLiner()
	if e.editing, err = liner.TerminalMode(); err != nil {
		return nil, errors.Join(fmt.Errorf("preparing the terminal: %w", err), e.state.Close())
	}
	e.state.SetCtrlCAborts(true)
	e.state.SetMultiLineMode(true)
	if file, err := os.Open(history); err == nil {
		_, readErr := e.state.ReadHistory(file)
		if err := errors.Join(readErr, file.Close()); err != nil {
			a.complain("agentd: reading %q: %s; the chat goes on without those lines", history, err)
		}
	}
	return e, e.plain.ApplyMode()
}

// typed is what came of a prompt.
type typed struct {
	text string
	err  error
}

// line implements [lineSource]. When the context ends, the terminal is restored at once; the goroutine that reads it ends with the process.
func (e *editor) line(ctx context.Context) (string, error) {
	if err := e.editing.ApplyMode(); err != nil {
		return "", fmt.Errorf("preparing the terminal: %w", err)
	}
	typing := make(chan typed, 1)
	go func() {
		text, err := e.state.Prompt("> ")
		typing <- typed{text, err}
	}()
	select {
	case <-ctx.Done():
		_, err := fmt.Fprintln(e.out) // What is told next does not stand behind the prompt.
		return "", errors.Join(context.Cause(ctx), e.plain.ApplyMode(), err)
	case line := <-typing:
		if err := e.plain.ApplyMode(); err != nil {
			return "", fmt.Errorf("restoring the terminal: %w", err)
		}
		if errors.Is(line.err, liner.ErrPromptAborted) {
			return "", errAborted
		}
		if text := line.text; line.err == nil && strings.TrimSpace(text) != "" && !strings.HasPrefix(text, " ") {
			e.state.AppendHistory(text)
		}
		return line.text, line.err
	}
}

// close implements [lineSource]. It keeps the history; lines that begin with a space are not in it.
func (e *editor) close() error {
	var lines bytes.Buffer
	_, err := e.state.WriteHistory(&lines)
	if err == nil {
		err = atomicfile.Write(e.history, lines.Bytes())
	}
	if err != nil {
		err = fmt.Errorf("keeping the history: %w", err)
	}
	return errors.Join(err, e.state.Close())
}
