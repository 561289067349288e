package bounded

import "errors"

var (
	// ErrNotRegular means that the path names something other than a regular file: a directory, a pipe, a socket, a
	// device. Nothing was opened for reading.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge means that a file, or what a compressed file holds, is larger than the caller's bound.
	ErrTooLarge = errors.New("larger than the bound")
	// ErrCorrupt means that the content is damaged or is not what its name says.
	ErrCorrupt = errors.New("damaged content")
	// ErrEmpty means that the file is there and holds nothing.
	ErrEmpty = errors.New("empty file")
)
