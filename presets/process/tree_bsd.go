//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// killWithParent does nothing: only Linux ends a child with its parent.
func killWithParent(*syscall.SysProcAttr) {}

// marked always says no: the session and descent are what is looked at here.
func (t *tree) marked(int) bool { return false }

// await waits for the exit and reaps at once: waiting without reaping is Linux's.
func (t *tree) await(cmd *exec.Cmd) { _ = cmd.Wait() }

func (t *tree) reap(*exec.Cmd) {}
