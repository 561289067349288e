//go:build unix

package shell_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/builtin/bundletest"
	"agentd/presets/builtin/shell"
)

const run = "space_shell_run"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func setup(tb testing.TB, opts *shell.Options) *bundletest.Bench {
	tb.Helper()
	bundle, err := shell.New(opts)
	if err != nil {
		tb.Fatal(err)
	}
	return bundletest.New(tb, bundle)
}

func TestRun(t *testing.T) {
	t.Parallel()
	bench := setup(t, nil)
	if err := os.MkdirAll(filepath.Join(bench.WorkspaceRoot, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(bench.WorkspaceRoot)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, arguments, output string
		code                    float64
		signal                  string
	}{
		{"output", `{"command":"echo hello"}`, "hello\n", 0, ""},
		{"exit code", `{"command":"echo no; exit 3"}`, "no\n", 3, ""},
		{"both streams in order", `{"command":"echo one; echo two >&2; echo three"}`, "one\ntwo\nthree\n", 0, ""},
		{"in the workspace", `{"command":"pwd -P"}`, root + "\n", 0, ""},
		{"in a folder of it", `{"command":"pwd -P","dir":"sub"}`, filepath.Join(root, "sub") + "\n", 0, ""},
		{"no input", `{"command":"cat"}`, "", 0, ""},
		{"a signal", `{"command":"kill -9 $$"}`, "", -1, "killed"},
		{"unknown command", `{"command":"exit 127"}`, "", 127, ""},
		{"not UTF-8", `{"command":"printf 'a\\377b'"}`, "a\uFFFDb", 0, ""},
		{"signs of the shell", `{"command":"x='a  b'; echo \"$x\" | tr a c && echo <&- >&2"}`, "c  b\n\n", 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := bench.Good(run, test.arguments)
			signal, _ := got["signal"].(string)
			if got["output"] != test.output || got["exit_code"] != test.code || got["ok"] != (test.code == 0) || signal != test.signal {
				t.Errorf("answer = %v", got)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	bench := setup(t, nil)
	if err := os.Symlink(t.TempDir(), filepath.Join(bench.WorkspaceRoot, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bench.WorkspaceRoot, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{}`:                                     "invalid arguments",
		`{"command":""}`:                         "invalid arguments",
		`{"command":"true","timeout_seconds":0}`: "invalid arguments",
		`{"command":"true","timeout_seconds":601}`: "invalid arguments",
		`{"command":"a\u0000b"}`:                   "NUL",
		`{"command":"true","dir":".."}`:            "outside",
		`{"command":"true","dir":"/"}`:             "outside",
		`{"command":"true","dir":"out"}`:           "leaves the folder",
		`{"command":"true","dir":"file"}`:          "no folder",
		`{"command":"true","dir":"nope"}`:          "nope",
	} {
		bench.Bad(run, arguments, want)
	}
	bench.WorkspaceRoot = ""
	bench.Bad(run, `{"command":"true"}`, "no folder is configured")
	for _, opts := range []shell.Options{{Timeout: time.Hour}, {Timeout: -1}, {MaxOutputBytes: 1 << 20}, {PassEnv: []string{"A=B"}}} {
		if _, err := shell.New(&opts); !errors.Is(err, presets.ErrInvalid) {
			t.Errorf("New(%+v) = %v, want ErrInvalid", opts, err)
		}
	}
}

// The secrets of this process do not reach a command.
func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "hunter2")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	t.Setenv("LC_TEST", "kept")
	t.Setenv("PROJECT", "passed")
	bench := setup(t, &shell.Options{PassEnv: []string{"PROJECT"}})
	output, _ := bench.Good(run, `{"command":"env"}`)["output"].(string)
	allowed := append(shell.BaseEnv(), "LC_TEST", "PROJECT", "TERM", "NO_COLOR", "PAGER", "GIT_PAGER", "GIT_TERMINAL_PROMPT", shell.ArtifactDirEnv,
		"AGENTD_PROCESS_MARK", "PWD", "OLDPWD", "SHLVL", "_")
	known := map[string]bool{}
	for _, name := range allowed {
		known[name] = true
	}
	for line := range strings.Lines(output) {
		name, _, _ := strings.Cut(line, "=")
		if !known[name] && !strings.HasPrefix(name, "LC_") {
			t.Errorf("a command sees %s", name)
		}
	}
	for _, want := range []string{"LC_TEST=kept\n", "PROJECT=passed\n", "PATH=", shell.ArtifactDirEnv + "=" + bench.ArtifactDir + "\n"} {
		if !strings.Contains(output, want) {
			t.Errorf("the environment does not hold %q", want)
		}
	}
	if strings.Contains(output, "hunter2") {
		t.Error("a secret reached the command")
	}
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	bench := setup(t, &shell.Options{MaxOutputBytes: 1000})
	got := bench.Good(run, `{"command":"i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done"}`)
	output, _ := got["output"].(string)
	if !strings.HasPrefix(output, "line 0\n") || !strings.HasSuffix(output, "line 1999\n") || len(output) > 1100 || got["cut_bytes"].(float64) <= 0 || !strings.Contains(output, "left out") {
		t.Errorf("%d bytes of output, cut %v", len(output), got["cut_bytes"])
	}
	worst := bench.Call(t.Context(), run, `{"command":"head -c 100000 /dev/zero | tr '\\0' '\\1'"}`)
	if worst.IsError || worst.CutBytes > 0 {
		t.Errorf("control characters: error %t, cut %d", worst.IsError, worst.CutBytes)
	}
}

// waitGone waits until no process of that id is left.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// readPID waits until a command has written a process id into a file.
func readPID(t *testing.T, path string) int {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if text, err := os.ReadFile(path); err == nil && strings.HasSuffix(string(text), "\n") {
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Fatal("the command did not say its process id")
	return 0
}

// A child in the background that ignores SIGTERM goes with its command: when the time is up, and when it ends by itself.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	const child = `(trap '' TERM; echo $$ >/dev/null; sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 1; done') & while [ ! -s child ]; do sleep 0.01; done; `
	for _, test := range []struct {
		name, command string
		timedOut      bool
	}{
		{"when its time is up", child + "echo waiting; wait", true},
		{"when the command ends by itself", child + "echo done", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			bench := setup(t, nil)
			limit := "30"
			if test.timedOut {
				limit = "2"
			}
			result := bench.Call(t.Context(), run, `{"command":"`+test.command+`","timeout_seconds":`+limit+`}`)
			if result.IsError != test.timedOut || strings.Contains(result.Text, `"timed_out":true`) != test.timedOut {
				t.Errorf("result = %+v", result)
			}
			if test.timedOut && result.Status != messages.CallFailed {
				t.Errorf("status = %s", result.Status)
			}
			waitGone(t, readPID(t, filepath.Join(bench.WorkspaceRoot, "child")))
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	bench := setup(t, nil)
	pressed := errors.New("user pressed stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	pids := make(chan int, 1)
	go func() {
		pids <- readPID(t, filepath.Join(bench.WorkspaceRoot, "pid"))
		cancel(pressed)
	}()
	result := bench.Call(ctx, run, `{"command":"trap '' TERM; echo $$ > pid; while :; do sleep 1; done"}`)
	if result.Status != messages.CallInterrupted || !errors.Is(result.Cause, presets.ErrInterrupted) || !errors.Is(result.Cause, pressed) {
		t.Errorf("result = %+v", result)
	}
	waitGone(t, <-pids)
}

func BenchmarkRun(b *testing.B) {
	bench := setup(b, nil)
	for b.Loop() {
		bench.Good(run, `{"command":":"}`)
	}
}
