package process_test

import (
	"context"
	"fmt"
	"time"

	"agentd/presets/process"
)

func ExampleRun() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out := process.NewCapture(64 << 10)
	exit, err := process.Run(ctx, process.Params{
		Path: "/bin/sh", Args: []string{"-c", "echo hello; exit 3"}, Stdout: out, Stderr: out,
	}, nil)
	fmt.Printf("%s%s, %v\n", out, exit, err)
	// Output:
	// hello
	// exit status 3, <nil>
}

func ExampleStart() {
	lines := process.NewLines(0, func(l process.Line) { fmt.Printf("child says %q\n", l.Text) })
	p, err := process.Start(process.Params{
		Path: "/bin/cat", OpenStdin: true, Stdout: lines,
	}, &process.Options{StdinGrace: 5 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Fprintln(p.Stdin(), "ping")
	exit, err := p.Stop(context.Background()) // Closing stdin is enough for cat.
	fmt.Println(exit, err)
	// Output:
	// child says "ping"
	// exit status 0 <nil>
}
