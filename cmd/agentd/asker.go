package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/muesli/cancelreader"

	"agentd/presets"
)

// errWithdrawn means that a question went away before it was answered.
var errWithdrawn = errors.New("the question was withdrawn")

// maxAnswerBytes is the longest answer that is read.
const maxAnswerBytes = 4096

// asker asks the person at the terminal. The terminal is in its ordinary mode: a line is an answer, and Ctrl-C a signal.
type asker struct {
	app *app
	in  *os.File
}

// newAsker returns the asker of this terminal, or nil if nobody sits there.
func (a *app) newAsker() *asker {
	in, ok := terminal(a.stdin)
	if !ok || !a.interactive() {
		return nil
	}
	return &asker{app: a, in: in}
}

// approval asks about a request, which stands on the screen already. What was typed before the question does not answer
// it. The error is errWithdrawn, io.EOF for Ctrl-D, or a fault of the terminal.
func (q *asker) approval(request presets.Request, withdrawn <-chan struct{}) (presets.Answer, error) {
	styles := q.app.styles()
	prompt := strings.Repeat(" ", labelColumns) + styles.Bold("[o]") + "nce, " + styles.Bold("[a]") + "lways (this exact call, for this agent), " + styles.Bold("[d]") + "eny? "
	for {
		text, err := q.line(prompt, withdrawn)
		if err != nil {
			return presets.Answer{}, err
		}
		if answer, ok := parseAnswer(text); ok {
			answer.Who = q.app.person()
			return answer, nil
		}
		prompt = strings.Repeat(" ", labelColumns) + "Type o, a or d and press Enter; a reason may follow, such as \"d not now\": "
	}
}

// parseAnswer reads "o", "always", "d because" and the like.
func parseAnswer(text string) (presets.Answer, bool) {
	word, reason, _ := strings.Cut(strings.TrimSpace(text), " ")
	answer := presets.Answer{Reason: strings.TrimSpace(reason)}
	switch strings.ToLower(word) {
	case "o", "once", "y", "yes":
		answer.Verb = presets.ApproveOnce
	case "a", "always":
		answer.Verb = presets.ApproveAlways
	case "d", "deny", "n", "no":
		answer.Verb = presets.Deny
	default:
		return answer, false
	}
	return answer, true
}

// line asks for one line.
func (q *asker) line(prompt string, withdrawn <-chan struct{}) (string, error) {
	if err := flushInput(q.in); err != nil {
		return "", fmt.Errorf("reading an answer: %w", err)
	}
	reader, err := cancelreader.NewReader(q.in)
	if err != nil {
		return "", fmt.Errorf("reading an answer: %w", err)
	}
	defer reader.Close() // Nothing was written.
	if _, err := io.WriteString(q.app.stdout, prompt); err != nil {
		return "", err
	}
	stop, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-withdrawn:
			reader.Cancel()
		case <-stop:
		}
	}()
	text, err := bufio.NewReader(io.LimitReader(reader, maxAnswerBytes)).ReadString('\n')
	close(stop)
	<-gone
	if err == nil {
		return text, nil
	}
	if _, newline := io.WriteString(q.app.stdout, "\n"); newline != nil {
		return "", newline
	}
	switch {
	case errors.Is(err, cancelreader.ErrCanceled):
		return "", cmp.Or(flushInput(q.in), errWithdrawn)
	case errors.Is(err, io.EOF):
		return "", io.EOF
	default:
		return "", fmt.Errorf("reading an answer: %w", err)
	}
}

// confirm asks a yes-or-no question. Everything but yes is no.
func (q *asker) confirm(question string) (bool, error) {
	text, err := q.line(question+" [y/N] ", nil)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	word := strings.ToLower(strings.TrimSpace(text))
	return word == "y" || word == "yes", err
}

// person names who sits at the terminal, for the record.
func (a *app) person() string {
	return cmp.Or(a.getenv("USER"), a.getenv("USERNAME"), a.getenv("LOGNAME"), "terminal")
}
