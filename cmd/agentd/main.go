package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"agentd/actors"
	"agentd/actors/agents/local"
)

// sameSignal is how long a repeated signal is the same wish: timeout(1), npm and others send one to the process and one to its group.
const sameSignal = 200 * time.Millisecond

func main() {
	os.Exit(start(local.Register))
}

// start runs the program on the process's own arguments, streams and signals, with these agents.
func start(agents ...func(*actors.Agents) error) int {
	presses := make(chan os.Signal, 2)
	signal.Notify(presses, os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(sameSignal, stop) }) // A second one kills.
	return run(ctx, &program{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, presses: presses, quit: os.Exit, agents: agents,
	})
}
