package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agentd/messages"
)

const runHelp = `Run one turn and show what happens in it. The prompt is what follows the flags; without any, or with "-", it is read from standard input.

Without --session or --new it goes on with the latest session of the agent, and begins one if there is none.

In a terminal it asks for approvals in place. Anywhere else nobody can be asked: a call that needs an approval is denied, unless
--yes-risk allows its risk or it was approved always before; the exit code is 6 then.

Ctrl-C cancels the turn, and a second one ends the program at once.`

const runExamples = `  agentd run "draw a red circle"
  agentd run --new --yes-risk filesystem-read "read go.mod"
  echo "draw a blue square" | agentd run --json`

func newRun(a *app) *cobra.Command {
	var flags talkFlags
	var onBusy string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "run [flags] PROMPT...", Short: "Run one turn", Long: runHelp, Example: runExamples,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.runTurn(cmd.Context(), runParams{flags: &flags, onBusy: messages.OnBusy(onBusy), asJSON: asJSON, args: args})
			return a.jsonError(asJSON, err)
		},
	}
	flags.add(a, cmd)
	cmd.Flags().StringVar(&onBusy, "on-busy", string(messages.OnBusyCancel), "while a turn runs in the session: `what` to do with it: cancel, queue or reject")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print events as JSON lines; see \"agentd help json-lines\"")
	complete(cmd, "on-busy", completeWords("cancel", "queue", "reject"))
	return cmd
}

type runParams struct {
	flags  *talkFlags
	onBusy messages.OnBusy
	asJSON bool
	args   []string
}

func (a *app) runTurn(ctx context.Context, p runParams) error {
	if err := p.onBusy.Validate(); err != nil {
		return misuse("--on-busy: %w", err)
	}
	opts, err := p.flags.options(a)
	if err != nil {
		return err
	}
	input, err := a.prompt(p.args)
	if err != nil {
		return err
	}
	h, err := a.host(ctx, opts)
	if err != nil {
		return err
	}
	d := &driver{app: a, host: h}
	d.out = jsonPrinter{jsonLines{a.stdout}}
	if !p.asJSON {
		text := a.newTextPrinter()
		text.full = p.flags.full
		d.out = text
		if asker := a.newAsker(); asker != nil {
			d.ask = asker.approval
		}
	}
	o, err := d.once(ctx, p, input)
	if stopped := h.stop(); stopped != nil || err != nil {
		return errors.Join(err, stopped)
	}
	if err := d.out.result(o); err != nil {
		return err
	}
	if code := o.exitCode(); code != exitOK {
		return &toldError{code: code}
	}
	return nil
}

// once finds the session and runs the turn.
func (d *driver) once(ctx context.Context, p runParams, input string) (outcome, error) {
	head, fresh, err := p.flags.open(ctx, d.host, d.app)
	if err != nil {
		return outcome{}, err
	}
	d.session = head.ID
	if err := d.out.session(head, fresh); err != nil {
		return outcome{}, err
	}
	return d.turn(ctx, input, p.onBusy)
}

// prompt returns the prompt of the arguments, or of standard input.
func (a *app) prompt(args []string) (string, error) {
	input := strings.Join(args, " ")
	if len(args) == 0 || input == "-" {
		if _, isTerminal := terminal(a.stdin); isTerminal && len(args) == 0 {
			return "", misuse("there is no prompt: say what the agent should do, as in: agentd run \"draw a red circle\"")
		}
		release := a.ctrlC.during(func() { a.quit(exitCancelled) }) // Nothing else ends a read.
		text, err := io.ReadAll(io.LimitReader(a.stdin, messages.MaxInputBytes+1))
		release()
		if err != nil {
			return "", fmt.Errorf("reading the prompt: %w", err)
		}
		input = strings.TrimRight(string(text), "\r\n")
	}
	if err := messages.ValidateInput(input); err != nil {
		return "", &usageError{err: err}
	}
	return input, nil
}

// jsonError tells an error as a JSON line too, if lines were asked for.
func (a *app) jsonError(asJSON bool, err error) error {
	var told *toldError
	if err == nil || !asJSON || errors.As(err, &told) {
		return err
	}
	line := errorLine{Kind: "error", Error: err.Error(), ExitCode: exitCodeOf(err)}
	return errors.Join(err, jsonLines{a.stdout}.write(line))
}
