package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed into a terminal and not read.
func flushInput(file *os.File) error {
	return unix.IoctlSetInt(int(file.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
