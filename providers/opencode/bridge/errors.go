package bridge

import "errors"

// Errors of this package. They are wrapped with the name of what they are about, so compare with errors.Is. Errors of starting and
// reaching OpenCode are those of package opencode.
var (
	// ErrInvalid means that a parameter or an option breaks a rule; the text names it.
	ErrInvalid = errors.New("invalid parameters for the OpenCode bridge")
	// ErrStarted means that the bridge is started already.
	ErrStarted = errors.New("the OpenCode bridge is started already")
	// ErrNotStarted means that the bridge is not started yet.
	ErrNotStarted = errors.New("the OpenCode bridge is not started")
	// ErrStopped means that the bridge was stopped; it does not start again.
	ErrStopped = errors.New("the OpenCode bridge is stopped")
	// ErrNotConnected means that OpenCode could not connect to our tools; the text has its reason.
	ErrNotConnected = errors.New("OpenCode could not connect to the tools")
	// ErrUnresponsive means that a running OpenCode does not answer.
	ErrUnresponsive = errors.New("OpenCode does not answer")
)
