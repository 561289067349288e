package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// flushInput drops what was typed into a terminal and not read.
func flushInput(file *os.File) error {
	return windows.FlushConsoleInputBuffer(windows.Handle(file.Fd()))
}
