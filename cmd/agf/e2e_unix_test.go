//go:build e2e && !windows

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// group gives a process a group of its own, and ends the whole group when its context ends.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// checkNobodyIsLeft fails the test if a process that lives in this world goes on. What is told to go may take a moment.
func (w *world) checkNobodyIsLeft(t *testing.T) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); {
		if left = w.inhabitants(); len(left) == 0 {
			return
		}
		<-time.After(100 * time.Millisecond)
	}
	t.Errorf("processes are left: %q", left)
}

// inhabitants are the processes whose home is that of this world. Only Linux tells.
func (w *world) inhabitants() []string {
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var found []string
	for _, path := range environments {
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(data), "HOME="+w.home+"\x00") {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}
