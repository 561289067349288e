//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// tree is the child and everything below it.
type tree struct {
	mark   string
	root   int
	blind  bool // the process table cannot be read, so the group is all there is
	census *census
}

func newTree(mark string) *tree { return &tree{mark: mark} }

// configure makes the child the leader of a session of its own: its own process group, and no terminal that it could read
// a password from or be stopped by.
func (t *tree) configure(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	killWithParent(cmd.SysProcAttr)
}

func (t *tree) adopt(p *os.Process) error {
	t.root = p.Pid
	birth, ok := startOf(p.Pid)
	t.blind = !ok
	t.census = newCensus(t.root, birth, t.marked)
	return nil
}

// close releases nothing: a tree is numbers here.
func (t *tree) close() {}

// look returns the ids of the living members.
func (t *tree) look() []int {
	if t.blind {
		return t.lookByGroup()
	}
	table, err := processTable()
	if err != nil {
		return t.lookByGroup()
	}
	living := t.census.members(table)
	pids := make([]int, len(living))
	for i, r := range living {
		pids[i] = r.pid
	}
	return pids
}

// lookByGroup is what is left where the process table cannot be read. It cannot tell a zombie from a living member.
func (t *tree) lookByGroup() []int {
	if err := syscall.Kill(-t.root, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return nil
	}
	return []int{t.root}
}

func (t *tree) interrupt() error {
	err := syscall.Kill(-t.root, syscall.SIGINT)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// terminate asks all members to end. A stopped process gets the question only when it goes on.
func (t *tree) terminate() {
	t.signal(syscall.SIGTERM)
	t.signal(syscall.SIGCONT)
}

func (t *tree) kill() { t.signal(syscall.SIGKILL) }

// signal reaches the group in one step, which no fork can outrun, and then each member outside of it. Errors mean that
// a member has gone or belongs to another user, and both show in the next look.
func (t *tree) signal(sig syscall.Signal) {
	_ = syscall.Kill(-t.root, sig)
	for pid, start := range t.census.known {
		if group, err := syscall.Getpgid(pid); err == nil && group == t.root {
			continue
		}
		signalOne(pid, start, sig)
	}
}

// signalOne opens the process first and compares its age then, so that a number given to another in between is harmless
// where the system has handles for processes.
func signalOne(pid int, start int64, sig syscall.Signal) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if now, ok := startOf(pid); ok && now != start {
		return
	}
	_ = p.Signal(sig)
}

// status splits the state of an ended child into exit status and signal.
func status(state *os.ProcessState) (code int, signal string) {
	if state == nil {
		return -1, ""
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, ws.Signal().String()
	}
	return state.ExitCode(), ""
}
