//go:build !linux

package diskfs

import "os"

// syncFile uses os.File.Sync, which on macOS flushes the drive's own cache too.
func syncFile(file *os.File) error { return file.Sync() }
