package modelserver

import "errors"

// Errors of this package. They are wrapped, so compare with [errors.Is].
var (
	// ErrInvalid means that [Options] or a [Step] are unusable; the text names the field.
	ErrInvalid = errors.New("invalid model script")
	// ErrClosed means that the server was closed while something was awaited.
	ErrClosed = errors.New("model server is closed")
)
