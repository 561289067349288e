package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"agentd/cmd/internal/agfcmd"
)

// endTime is how long a command has to come back once it is interrupted. "agf mcp" answers what is under way in this time.
const endTime = 1500 * time.Millisecond

func main() { os.Exit(start()) }

// start runs the program on the process's own arguments, streams and signals.
func start() int {
	tuneMemory(os.Getenv)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, func() {
		stop() // The second one kills.
		time.AfterFunc(endTime, func() { os.Exit(agfcmd.ExitInterrupted) })
	})
	return run(ctx, program{args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv})
}

// program is what a process is given. Tests give something else.
type program struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}
