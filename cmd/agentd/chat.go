package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"agentd/actors"
	"agentd/messages"
)

const chatHelp = `Talk with an agent, one line a turn, in one session. Without --session or --new it goes on with the latest session of the agent.

In a terminal, lines can be edited, and arrow keys bring earlier ones back. Ctrl-C cancels the turn that runs, and a second one ends the
program; at an empty line, press it twice. Ctrl-D ends the chat. Lines that begin with / are commands: /help lists them.

Piped, each line of standard input is a turn, and approvals are as in "agentd run".`

const slashHelp = `/help      show this
/new       begin a new session
/retry     send the last message again
/session   say where the session and its files are
/quit      end the chat (so does Ctrl-D)
A line that begins with // is sent with one /.`

func newChat(a *app) *cobra.Command {
	var flags talkFlags
	cmd := &cobra.Command{
		Use: "chat", Short: "Talk with an agent", Long: chatHelp, Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.chat(cmd.Context(), &flags) },
	}
	flags.add(a, cmd)
	return cmd
}

// chat is one conversation.
type chat struct {
	*driver
	text  *textPrinter
	lines lineSource
	flags *talkFlags
	// last is the last message, for /retry.
	last string
	// code is the exit code of the last turn.
	code int
	// aborted says that Ctrl-C was pressed at the last prompt.
	aborted bool
}

// lineSource gives what the person types. The error is io.EOF at the end, errAborted after Ctrl-C, or the cause of the context.
type lineSource interface {
	line(ctx context.Context) (string, error)
	close() error
}

// errAborted means that Ctrl-C was pressed while a line was typed.
var errAborted = errors.New("aborted")

func (a *app) chat(ctx context.Context, flags *talkFlags) (err error) {
	opts, err := flags.options(a)
	if err != nil {
		return err
	}
	h, err := a.host(ctx, opts)
	if err != nil {
		return err
	}
	text := a.newTextPrinter()
	text.full = flags.full
	c := &chat{driver: &driver{app: a, host: h, out: text}, text: text, flags: flags}
	if err := c.begin(ctx); err != nil {
		return errors.Join(err, h.stop())
	}
	debug.FreeOSMemory() // Opening took more than sitting at a prompt does.
	talked := c.talk(ctx)
	err = errors.Join(c.lines.close(), h.stop())
	if talked != nil || err != nil {
		return errors.Join(talked, err)
	}
	if c.code != exitOK {
		return &toldError{code: c.code}
	}
	return nil
}

// begin finds the session and opens the source of lines.
func (c *chat) begin(ctx context.Context) error {
	head, fresh, err := c.flags.open(ctx, c.host, c.app)
	if err != nil {
		return err
	}
	c.session = head.ID
	if err := c.out.session(head, fresh); err != nil {
		return err
	}
	asker := c.app.newAsker()
	if asker == nil {
		c.lines = newPipedLines(c.app)
		return nil
	}
	c.ask, c.text.hideUser = asker.approval, true
	if c.lines, err = newEditor(c.app, c.host.dir.History()); err != nil {
		return err
	}
	return c.text.print(block{label: "", text: "Say what to do. /help lists commands, Ctrl-D ends.", style: c.text.styles.Dim})
}

// talk runs a turn for each line until there are no more.
func (c *chat) talk(ctx context.Context) error {
	for {
		line, err := c.lines.line(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errAborted):
			if c.aborted {
				return nil
			}
			c.aborted = true
			if err := c.say("Press Ctrl-C again, or Ctrl-D, to end."); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		c.aborted = false
		if strings.TrimSpace(line) == "" {
			continue
		}
		if ended, err := c.obey(ctx, line); ended || err != nil {
			return err
		}
	}
}

// obey carries out a command, or runs a turn.
func (c *chat) obey(ctx context.Context, line string) (ended bool, err error) {
	word := strings.TrimSpace(line)
	if !strings.HasPrefix(word, "/") || strings.HasPrefix(word, "//") {
		return false, c.send(ctx, strings.TrimPrefix(line, "/"))
	}
	switch word {
	case "/quit", "/exit":
		return true, nil
	case "/new":
		return false, c.restart(ctx)
	case "/retry":
		if c.last == "" {
			return false, c.say("There is no message to send again.")
		}
		return false, c.send(ctx, c.last)
	case "/session":
		return false, c.say(fmt.Sprintf("session %s\n%s\n%s", c.session, c.host.dir.Session(c.session), c.host.dir.Artifacts()))
	case "/help":
		return false, c.say(slashHelp)
	default:
		return false, c.say(fmt.Sprintf("There is no command %q. /help lists them; // begins a message with a slash.", word))
	}
}

// send runs one turn. A turn that cannot begin is told, and the chat goes on.
func (c *chat) send(ctx context.Context, input string) error {
	if err := messages.ValidateInput(input); err != nil {
		c.app.complain("agentd: %s", err)
		c.code = exitUsage
		return nil
	}
	c.last = input
	o, err := c.turn(ctx, input, messages.OnBusyCancel)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errInterrupted):
		c.code = exitCancelled
		return nil
	case err != nil:
		return err
	}
	c.code = o.exitCode()
	if o.turn.Status == messages.TurnCompleted && c.text.hideUser {
		_, err := fmt.Fprintln(c.app.stdout) // The answer says the rest.
		return err
	}
	return c.text.print(c.text.endBlock(o.turn, "after "+shortDuration(o.took)))
}

// restart begins a new session with the same agent.
func (c *chat) restart(ctx context.Context) error {
	head, err := c.host.store.Head(ctx, c.session)
	if err != nil {
		return err
	}
	if head, err = c.host.runtime.CreateSession(ctx, head.AgentID, actors.CreateOptions{}); err != nil {
		return err
	}
	c.session, c.last = head.ID, ""
	return c.out.session(head, true)
}

func (c *chat) say(text string) error {
	return c.text.print(block{text: text, style: c.text.styles.Dim})
}
