package process

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary plays the children too: with childEnv set it runs that script instead of the tests.
const (
	childEnv  = "PROCESS_TEST_CHILD"
	tetherEnv = "PROCESS_TEST_TETHER"
)

var trials = flag.Int("process.trials", 50, "trials of stopping a stubborn tree")

func TestMain(m *testing.M) {
	if script := os.Getenv(childEnv); script != "" {
		os.Exit(playChild(script))
	}
	goleak.VerifyTestMain(m)
}

// scripts are the children. Steps: ignore (TERM, INT, HUP), slowterm (ends 100 ms after TERM), spawn:NAME (same group),
// session:NAME (own session), bare:NAME (own session, no marker), ready, print:N, cat, exit:N, hang, leash (until the tether is let go).
var scripts = map[string]string{
	"hang":       "hang",
	"ignore":     "ignore hang",
	"polite":     "ready hang",
	"stubborn":   "ignore spawn:hop spawn:ignore ready hang",
	"hop":        "ignore spawn:ignore exit:0",
	"daemon":     "spawn:hopout ready hang",
	"hopout":     "session:ignore exit:0",
	"bare":       "bare:ignore ready hang",
	"all":        "ignore spawn:hop spawn:hopout bare:ignore session:family ready hang",
	"family":     "ignore spawn:ignore session:ignore hang",
	"leaver":     "spawn:ignore spawn:hopout ready exit:3",
	"slow":       "slowterm ready hang",
	"cat":        "ready cat exit:0",
	"bomb":       "ignore session:bomb3 session:bomb3 spawn:bomb3 ready hang",
	"bomb3":      "ignore session:bomb2 spawn:bomb2 hang",
	"bomb2":      "ignore session:ignore spawn:ignore hang",
	"long-line":  "print:100000 exit:0",
	"two-behind": "term2 ready hang",
	"stdin-end":  "ignore ready cat exit:7",
	"escape":     "bare:leash exit:0",
	"leash":      "leash exit:0",
}

// sizes say how many living processes a script ends up with, exited hops included in none.
var sizes = map[string]int{"stubborn": 3, "daemon": 2, "bare": 2, "all": 7, "bomb": 22, "leaver": 2}

func playChild(name string) int {
	script, ok := scripts[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such script:", name)
		return 99
	}
	for step := range strings.FieldsSeq(script) {
		verb, arg, _ := strings.Cut(step, ":")
		if code := playStep(verb, arg); code >= 0 {
			return code
		}
	}
	return 0
}

func playStep(verb, arg string) int {
	n, _ := strconv.Atoi(arg)
	switch verb {
	case "ignore":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	case "slowterm":
		onTerm(1, func() { time.Sleep(100 * time.Millisecond) }) //nolint:forbidigo // The child really is slow.
	case "term2":
		onTerm(2, func() {})
	case "spawn", "session", "bare":
		if err := spawn(verb, arg); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 97
		}
	case "ready":
		fmt.Println("ready")
	case "print":
		fmt.Println(strings.Repeat("x", n))
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "exit":
		return n
	case "leash":
		// Lives until the test lets go of its tether.
		conn, err := net.Dial("tcp", os.Getenv(tetherEnv))
		if err != nil {
			return 98
		}
		_, _ = conn.Read(make([]byte, 1))
	case "hang":
		// The tether comes last, so that who holds one ignores what it has to ignore.
		if addr := os.Getenv(tetherEnv); addr != "" {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 98
			}
			defer conn.Close()
		}
		for {
			time.Sleep(time.Hour) //nolint:forbidigo // The child is there to hang; an empty select would count as a deadlock.
		}
	default:
		return 96
	}
	return -1
}

// onTerm exits after the nth SIGTERM.
func onTerm(n int, before func()) {
	c := make(chan os.Signal, n)
	signal.Notify(c, syscall.SIGTERM)
	go func() {
		for range n {
			<-c
		}
		before()
		os.Exit(5)
	}()
}

func spawn(verb, name string) error {
	cmd := exec.Command(os.Args[0])
	cmd.Stdout = os.Stdout
	for _, entry := range os.Environ() {
		key, _, _ := strings.Cut(entry, "=")
		if key != childEnv && (verb != "bare" || key != MarkerEnv) {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, childEnv+"="+name)
	if verb != "spawn" {
		ownSession(cmd)
	}
	return cmd.Start()
}

// tether knows without any process table who is alive: every hanging child holds a connection, and the kernel closes it
// when the child has gone.
type tether struct {
	listener net.Listener
	arrived  chan net.Conn
	closed   chan struct{}
}

func newTether(tb testing.TB) *tether {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	te := &tether{listener: listener, arrived: make(chan net.Conn, 100), closed: make(chan struct{})}
	go func() {
		defer close(te.closed)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			te.arrived <- conn
		}
	}()
	tb.Cleanup(te.close)
	return te
}

func (te *tether) close() {
	_ = te.listener.Close()
	<-te.closed
}

// await returns the connections of n children.
func (te *tether) await(tb testing.TB, n int) []net.Conn {
	tb.Helper()
	deadline := time.After(30 * time.Second)
	conns := make([]net.Conn, 0, n)
	for range n {
		select {
		case conn := <-te.arrived:
			conns = append(conns, conn)
		case <-deadline:
			tb.Fatalf("%d of %d children came up", len(conns), n)
		}
	}
	return conns
}

// orphans counts the connections that are still open.
func orphans(conns []net.Conn) int {
	alive := 0
	for _, conn := range conns {
		// The kernel closes the socket while the process is dying, which is a moment before it is a zombie.
		_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err != nil && os.IsTimeout(err) {
			alive++
		}
		_ = conn.Close()
	}
	return alive
}

// child is the Params of a script.
func child(name string, te *tether) Params {
	env := append(os.Environ(), childEnv+"="+name, "GOCOVERDIR=")
	if te != nil {
		env = append(env, tetherEnv+"="+te.listener.Addr().String())
	}
	return Params{Path: os.Args[0], Env: env}
}
