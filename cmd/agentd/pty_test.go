//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// person is somebody at a terminal in which agentd runs.
type person struct {
	t         *testing.T
	cmd       *exec.Cmd
	keyboard  *os.File
	workspace string
	done      chan struct{}

	mu     sync.Mutex
	screen bytes.Buffer
	// read is how much of the screen was looked at.
	read int
}

// sit starts agentd in a terminal, with a data directory and a workspace of its own, or those of somebody before.
func sit(t *testing.T, before *person, args ...string) *person {
	t.Helper()
	p := &person{t: t, workspace: t.TempDir(), done: make(chan struct{})}
	p.cmd = exec.CommandContext(t.Context(), "agentd", args...)
	p.cmd.Dir = p.workspace
	p.cmd.Env = append(os.Environ(), "AGENTD_HOME="+filepath.Join(p.workspace, "data"), "USER=ann", "TERM=xterm", "NO_COLOR=")
	if before != nil {
		p.workspace, p.cmd.Dir, p.cmd.Env = before.workspace, before.cmd.Dir, before.cmd.Env
	}
	var err error
	if p.keyboard, err = pty.StartWithSize(p.cmd, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	go p.watch()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // It has ended, if the test went well.
		<-p.done
		_ = p.keyboard.Close()
	})
	return p
}

// watch reads the screen until the terminal is closed.
func (p *person) watch() {
	defer close(p.done)
	buffer := make([]byte, 4096)
	for {
		n, err := p.keyboard.Read(buffer)
		p.mu.Lock()
		p.screen.Write(buffer[:n])
		p.mu.Unlock()
		if err != nil {
			return // EIO, when the other side is gone.
		}
	}
}

// sees waits until the text comes, behind what was seen before.
func (p *person) sees(text string) {
	p.t.Helper()
	for deadline := time.Now().Add(awaitTime); ; {
		p.mu.Lock()
		fresh := p.screen.String()[p.read:]
		at := strings.Index(fresh, text)
		if at >= 0 {
			p.read += at + len(text)
		}
		p.mu.Unlock()
		if at >= 0 {
			return
		}
		select {
		case <-p.done:
			if !strings.Contains(p.all()[p.read:], text) {
				p.t.Fatalf("agentd ended, and never showed %q; it showed:\n%q", text, fresh)
			}
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("agentd never showed %q; it showed:\n%q", text, fresh)
		}
	}
}

func (p *person) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.String()
}

// types presses keys.
func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.keyboard, keys); err != nil {
		p.t.Fatal(err)
	}
}

// Keys that have no letter.
const (
	enter = "\r"
	ctrlC = "\x03"
	ctrlD = "\x04"
	keyUp = "\x1b[A"
)

// leaves waits for the end and compares the exit code.
func (p *person) leaves(want int) {
	p.t.Helper()
	timer := time.AfterFunc(awaitTime, func() { _ = p.cmd.Process.Signal(syscall.SIGKILL) })
	defer timer.Stop()
	err := p.cmd.Wait()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		p.t.Fatal(err)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != want {
		p.t.Fatalf("agentd exited with %d, want %d; it showed:\n%q", code, want, p.all())
	}
}

func (p *person) writes(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.workspace, name), []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// question is the end of the line that asks for an approval.
const question = "eny? "

func TestApprovalInPlace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, answer string
		code         int
		// want are what the screen shows in order, never what it does not show at all.
		want  []string
		never string
	}{
		{"once", "o" + enter, 0, []string{"approved once by ann", "secretcontent", "completed"}, "denied"},
		{"always", "always" + enter, 0, []string{"approved always by ann", "secretcontent", "completed"}, "denied"},
		{"deny with a reason", "d not this one" + enter, 0, []string{"denied by ann: not this one", "completed"}, "secretcontent"},
		{"end of input", ctrlD, 0, []string{"denied by ann: no answer", "completed"}, "secretcontent"},
		{"asked again", "what?" + enter + "", 3, []string{"Type o, a or d and press Enter"}, "secretcontent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			workspace := t.TempDir()
			if err := os.WriteFile(filepath.Join(workspace, "f.txt"), []byte("secretcontent\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			p := sit(t, nil, "run", "--workspace", workspace, "read f.txt")
			p.sees("space_workspace_read wants filesystem-read")
			p.sees(`reason:    You asked for "read f.txt".`)
			p.sees(`arguments: {"path":"f.txt"}`)
			p.sees(question)
			p.types(test.answer)
			for _, text := range test.want {
				p.sees(text)
			}
			if test.code == exitCancelled {
				p.types(ctrlC)
			}
			p.leaves(test.code)
			if strings.Contains(p.all(), test.never) {
				t.Errorf("the screen shows %q:\n%q", test.never, p.all())
			}
		})
	}
}

func TestStandingApprovalAsksNoMore(t *testing.T) {
	t.Parallel()
	first := sit(t, nil, "run", "--new", "list")
	first.sees(question)
	first.types("a" + enter)
	first.leaves(exitOK)
	second := sit(t, first, "run", "list")
	second.sees("approved by the standing approval")
	second.leaves(exitOK)
	if strings.Contains(second.all(), question) {
		t.Errorf("it asked again:\n%q", second.all())
	}
	// Other arguments are another call.
	third := sit(t, first, "run", "list data")
	third.sees(question)
	third.types("d" + enter)
	third.leaves(exitOK)
}

func TestTypingAheadAnswersNothing(t *testing.T) {
	t.Parallel()
	p := sit(t, nil, "run", "--agent", "local", "wait 500ms then list")
	p.sees("wait 500ms")
	p.types("o" + enter) // Before there is a question.
	p.sees(question)
	p.types("d" + enter)
	p.sees("denied by ann")
	p.leaves(exitOK)
}

func TestCtrlCCancelsTheTurn(t *testing.T) {
	t.Parallel()
	p := sit(t, nil, "run", "wait 1h")
	p.sees("wait 1h")
	p.types(ctrlC)
	p.sees("cancelling")
	p.sees("cancelled")
	p.sees("session file")
	p.leaves(exitCancelled)
}

func TestCtrlCWithdrawsAQuestion(t *testing.T) {
	t.Parallel()
	p := sit(t, nil, "run", "list")
	p.sees(question)
	p.types(ctrlC)
	p.sees("cancelled")
	p.leaves(exitCancelled)
}

func TestSecondCtrlCQuitsAtOnce(t *testing.T) {
	t.Parallel()
	p := sit(t, nil, "run", "--agent", "stubborn", "hello")
	p.sees("hello")
	p.types(ctrlC)
	p.sees("cancelling")
	<-time.After(2 * sameSignal) // One that follows at once is the same one.
	p.types(ctrlC)
	p.leaves(exitCancelled)
	if strings.Contains(p.all(), "session file") {
		t.Errorf("it did not quit at once:\n%q", p.all())
	}
	// What was acknowledged is stored, and the next start goes on.
	after := sit(t, p, "sessions", "list")
	after.sees("interrupted")
	after.leaves(exitOK)
}

// A person who types "agentd mcp" is told what it waits for.
func TestMCPInATerminal(t *testing.T) {
	t.Parallel()
	p := sit(t, nil, "mcp")
	p.sees("waiting for a client of MCP")
	p.sees("--http")
	p.types(ctrlC)
	p.leaves(exitCancelled)
}

func TestChat(t *testing.T) {
	t.Parallel()
	p := sit(t, nil, "chat")
	p.sees("is new")
	p.sees("> ")
	p.types("say one" + enter)
	p.sees("assistant")
	p.sees("one")
	p.sees("> ")
	p.types(keyUp + enter) // The same again.
	p.sees("assistant")
	p.sees("> ")
	p.types("wait 1h" + enter)
	p.sees("1h")
	p.sees("\n")
	p.await("running")
	p.types(ctrlC)
	p.sees("cancelled")
	p.sees("> ")
	p.types("list" + enter)
	p.sees(question)
	p.types("o" + enter)
	p.sees("assistant")
	p.sees("> ")
	p.types(ctrlC)
	p.sees("Press Ctrl-C again")
	p.sees("> ")
	p.types("say two" + enter) // It goes on.
	p.sees("assistant")
	p.sees("> ")
	p.types(ctrlD)
	p.leaves(exitOK)

	// The session goes on, and so does the history.
	again := sit(t, p, "chat")
	again.sees("goes on")
	again.sees("> ")
	again.types(keyUp + enter)
	again.sees("assistant")
	again.sees("two")
	again.sees("> ")
	again.types(ctrlC)
	again.sees("Press Ctrl-C again")
	again.types(ctrlC)
	again.leaves(exitOK)
}

// await waits until the listing of sessions shows a state.
func (p *person) await(state string) {
	p.t.Helper()
	for deadline := time.Now().Add(awaitTime); time.Now().Before(deadline); {
		list := exec.CommandContext(p.t.Context(), "agentd", "sessions", "list")
		list.Env = p.cmd.Env
		if out, err := list.Output(); err == nil && bytes.Contains(out, []byte(state)) {
			return
		}
		<-time.After(20 * time.Millisecond)
	}
	p.t.Fatalf("no session is ever %s", state)
}

func TestDraftIsRedrawnInPlace(t *testing.T) {
	t.Parallel()
	p := sit(t, nil, "run", "--no-color", "--agent", "slow", "alpha beta gamma")
	p.sees("assistant    alpha\r\n")
	p.writes("1", "")
	p.sees("\x1b[1A\r\x1b[Jassistant    alpha beta\r\n")
	p.writes("2", "")
	p.sees("\x1b[1A\r\x1b[Jassistant    alpha beta gamma\r\n")
	p.sees("completed")
	p.leaves(exitOK)
	if n := strings.Count(p.all(), "alpha beta gamma\r\n"); n != 2 {
		t.Errorf("the final text stands %d times on the screen, want in the prompt and in the answer:\n%q", n, p.all())
	}
}

func TestColour(t *testing.T) {
	t.Parallel()
	colour := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, test := range []struct {
		name string
		env  string
		args []string
		want bool
	}{
		{"by default", "", nil, true},
		{"NO_COLOR", "NO_COLOR=1", nil, false},
		{"flag", "", []string{"--no-color"}, false},
		{"dumb terminal", "TERM=dumb", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			base := &person{workspace: t.TempDir()}
			base.cmd = &exec.Cmd{Dir: base.workspace, Env: append(os.Environ(), "AGENTD_HOME="+filepath.Join(base.workspace, "data"), "TERM=xterm", "NO_COLOR=", test.env)}
			p := sit(t, base, append([]string{"run", "--agent", "hostile", "hello"}, test.args...)...)
			p.sees("completed")
			p.leaves(exitOK)
			if got := colour.MatchString(p.all()); got != test.want {
				t.Errorf("colour = %v, want %v:\n%q", got, test.want, p.all())
			}
			if rest := colour.ReplaceAllString(p.all(), ""); strings.ContainsRune(rest, '\x1b') || strings.Contains(rest, "\a") {
				t.Errorf("an escape of the agent reached the terminal:\n%q", rest)
			}
		})
	}
}

func TestDeleteAsks(t *testing.T) {
	t.Parallel()
	p := sit(t, nil, "run", "say one")
	p.leaves(exitOK)
	id := regexp.MustCompile(`agt-ses-[0-9a-f]{32}`).FindString(p.all())
	keep := sit(t, p, "sessions", "delete", id)
	keep.sees("(2 items, agent local) for good? [y/N]")
	keep.types(enter)
	keep.sees("kept " + id)
	keep.leaves(exitOK)
	remove := sit(t, p, "sessions", "delete", id)
	remove.sees("[y/N]")
	remove.types("y" + enter)
	remove.sees("deleted " + id)
	remove.leaves(exitOK)
}

func TestFollow(t *testing.T) {
	t.Parallel()
	talker := sit(t, nil, "run", "--agent", "slow", "alpha beta")
	talker.sees("alpha")
	talker.await("running")
	id := regexp.MustCompile(`agt-ses-[0-9a-f]{32}`).FindString(talker.all())
	watcher := sit(t, talker, "sessions", "tail", "-f", id)
	watcher.sees("alpha beta") // The prompt.
	talker.writes("1", "")
	watcher.sees("assistant")
	watcher.sees("alpha beta")
	watcher.sees("completed")
	talker.leaves(exitOK)
	watcher.types(ctrlC)
	watcher.leaves(exitOK)
}

func TestTableInATerminalFits(t *testing.T) {
	t.Parallel()
	p := sit(t, nil, "run", "say "+strings.Repeat("long ", 40))
	p.leaves(exitOK)
	list := sit(t, p, "sessions")
	list.sees("LAST ANSWER")
	list.leaves(exitOK)
	<-list.done
	for line := range strings.Lines(regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(list.all(), "")) {
		if n := len([]rune(strings.TrimRight(line, "\r\n"))); n > 100 {
			t.Errorf("a line of the table has %d columns, want at most 100: %q", n, line)
		}
	}
}

func TestTermination(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, shown string
		args        []string
	}{
		{"at the prompt of a chat", "> ", []string{"chat"}},
		{"in a turn", "wait 1h", []string{"run", "wait 1h"}},
		{"at a question", question, []string{"run", "list"}},
		{"following", "no such text", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.args == nil {
				before := sit(t, nil, "run", "say no such text")
				before.leaves(exitOK)
				id := regexp.MustCompile(`agt-ses-[0-9a-f]{32}`).FindString(before.all())
				p := sit(t, before, "sessions", "tail", "-f", id)
				p.sees(test.shown)
				p.terminate()
				return
			}
			p := sit(t, nil, test.args...)
			p.sees(test.shown)
			p.terminate()
		})
	}
}

// terminate asks the process to end as timeout(1) does, which signals it and its group, and expects that it does, properly.
func (p *person) terminate() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	// The second one comes when the first one has been taken, or the system would make one of them.
	<-time.After(20 * time.Millisecond)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
	p.leaves(exitCancelled)
}
