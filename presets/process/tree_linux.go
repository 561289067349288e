package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxEnviron bounds what is read of another process's environment; Linux allows a few MiB in all.
const maxEnviron = 4 << 20

func killWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// await waits for the exit without reaping: the zombie holds the number of the process group, so that signals to the group
// cannot reach a stranger. A blind tree cannot tell a zombie from the living and reaps at once.
func (t *tree) await(cmd *exec.Cmd) {
	if t.blind {
		_ = cmd.Wait()
		return
	}
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// reap collects the child. Its status is in the state, where a non-zero one is no error.
func (t *tree) reap(cmd *exec.Cmd) {
	if !t.blind {
		_ = cmd.Wait()
	}
}

// processTable reads all of /proc. Processes that end meanwhile are left out.
func processTable() ([]row, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	table := make([]row, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if r, ok := readRow(pid); ok {
			table = append(table, r)
		}
	}
	if len(table) == 0 {
		return nil, errors.New("/proc shows no process")
	}
	return table, nil
}

func readRow(pid int) (row, bool) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return row{}, false
	}
	defer func() { _ = unix.Close(fd) }()
	var buf [1024]byte
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		return row{}, false
	}
	return parseStat(buf[:n])
}

// parseStat reads one /proc/PID/stat. The name in parentheses may hold anything, parentheses and line ends included, so
// the fields are counted from the last closing one: state ppid pgrp session, and the start time as the twentieth.
func parseStat(line []byte) (row, bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || end < open {
		return row{}, false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(line[:open])))
	if err != nil || pid <= 0 {
		return row{}, false
	}
	fields := bytes.Fields(line[end+1:])
	if len(fields) < 20 {
		return row{}, false
	}
	var numbers [4]int64
	for i, at := range [4]int{1, 2, 3, 19} {
		if numbers[i], err = strconv.ParseInt(string(fields[at]), 10, 64); err != nil {
			return row{}, false
		}
	}
	state := fields[0][0]
	return row{
		pid: pid, ppid: int(numbers[0]), pgrp: int(numbers[1]), session: int(numbers[2]),
		start: numbers[3], dead: state == 'Z' || state == 'X' || state == 'x',
	}, true
}

func startOf(pid int) (int64, bool) {
	r, ok := readRow(pid)
	return r.start, ok
}

// marked looks for the tree's mark in the environment that the process was started with. Processes of other users
// cannot be read and are not ours.
func (t *tree) marked(pid int) bool {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	env := make([]byte, 0, 8<<10)
	for len(env) < maxEnviron {
		if len(env) == cap(env) {
			env = append(env, 0)[:len(env)]
		}
		n, err := f.Read(env[len(env):cap(env)])
		env = env[:len(env)+n]
		if err != nil || n == 0 {
			break
		}
	}
	return hasMark(env, t.mark)
}

// hasMark reports whether the NUL-separated environment carries mark, alone or followed by those of inner processes.
func hasMark(env []byte, mark string) bool {
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		value, ok := bytes.CutPrefix(entry, []byte(MarkerEnv+"="))
		if !ok {
			continue
		}
		rest, ok := bytes.CutPrefix(value, []byte(mark))
		if ok && (len(rest) == 0 || rest[0] == ':') {
			return true
		}
	}
	return false
}
