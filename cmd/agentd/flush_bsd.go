//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushRead is FREAD of sys/file.h: the input queue.
const flushRead = 1

// flushInput drops what was typed into a terminal and not read.
func flushInput(file *os.File) error {
	return unix.IoctlSetPointerInt(int(file.Fd()), unix.TIOCFLUSH, flushRead)
}
