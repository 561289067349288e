package mcp

import "errors"

// Errors of this package. They are wrapped with the name of what they are about, so compare with [errors.Is].
var (
	// ErrInvalid means that an option or a parameter breaks a rule; the text names it.
	ErrInvalid = errors.New("invalid")
	// ErrLineTooLong means that a client sent a longer line than [StdioOptions.MaxLineBytes]. The connection is closed without an
	// answer, since what follows on it can no longer be understood.
	ErrLineTooLong = errors.New("line too long")
	// ErrHandshakeTimeout means that no client introduced itself within [StdioOptions.HandshakeTimeout].
	ErrHandshakeTimeout = errors.New("no handshake in time")
)
