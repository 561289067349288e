package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"agentd/actors"
	"agentd/actors/agents/function"
	"agentd/persistence/jsonfile"
	"agentd/presets"
)

func main() {
	if err := run(context.Background(), strings.Join(os.Args[1:], " "), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, input string, out io.Writer) (err error) {
	// Services: where sessions are kept, which agents there are, which tools they may use.
	store, err := jsonfile.Open("embed-data", nil)
	if err != nil {
		return err
	}
	agents := &actors.Agents{}
	err = function.Register(agents, "upper", "Upper case", func(_ context.Context, turn *actors.TurnContext) (string, error) {
		return strings.ToUpper(turn.Input), nil
	})
	if err != nil {
		return err
	}
	manager, err := presets.NewManager(nil)
	if err != nil {
		return err
	}
	rt, err := actors.Start(actors.Deps{Store: store, Agents: agents, Presets: manager}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Stop(ctx)) }()

	// A session, and one turn in it.
	session, err := rt.CreateSession(ctx, "upper", actors.CreateOptions{})
	if err != nil {
		return err
	}
	handle, err := rt.RunTurn(ctx, session.ID, input, actors.RunOptions{})
	if err != nil {
		return err
	}
	turn, err := handle.Wait(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, turn.Status, turn.Result)
	return err
}
