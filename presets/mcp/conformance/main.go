package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.ReadCloser, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("give one mode: fixtures, plain or stdio")
	}
	switch args[0] {
	case "fixtures":
		return serveFixtures(ctx, out)
	case "plain":
		return servePlain(ctx, out)
	case "stdio":
		return serveStdio(ctx, in, out)
	default:
		return fmt.Errorf("unknown mode %q: use fixtures, plain or stdio", args[0])
	}
}
