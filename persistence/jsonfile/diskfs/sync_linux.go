package diskfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncFile uses fdatasync: it writes the size of the file, but not its times.
func syncFile(file *os.File) error {
	for {
		err := unix.Fdatasync(int(file.Fd()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "fdatasync", Path: file.Name(), Err: err}
		}
		return nil
	}
}
