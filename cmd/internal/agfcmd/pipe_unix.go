//go:build !windows

package agfcmd

import (
	"errors"
	"syscall"
)

// isBrokenPipe reports whether writing failed because nobody reads any more.
func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
