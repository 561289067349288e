package agfcmd

import (
	"errors"
	"syscall"
)

// errNoData is what Windows says of a pipe that is being closed.
const errNoData = syscall.Errno(232)

// isBrokenPipe reports whether writing failed because nobody reads any more.
func isBrokenPipe(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, errNoData) || errors.Is(err, syscall.EPIPE)
}
