//go:build windows

package diskfs

// syncDir does nothing: NTFS journals names, and a folder cannot be flushed.
func syncDir(string) error { return nil }

// noteHolder does nothing: the lock is mandatory here, so nobody could read the note.
func noteHolder(string) {}

// readHolder cannot tell who holds a lock.
func readHolder(string) int { return 0 }
