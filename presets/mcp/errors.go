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

	// ErrCollision means that another owner has a tool of that name; the text names both.
	ErrCollision = errors.New("the name is taken by a tool of owner")
	// ErrOwned means that an owner of that name is there already.
	ErrOwned = errors.New("the owner's name is taken")
	// ErrReleased means that a share of a registry was given up.
	ErrReleased = errors.New("released already")
	// ErrStarted means that something is started that is started already.
	ErrStarted = errors.New("started already")
	// ErrNotStarted means that something is used that is not started, or is stopped.
	ErrNotStarted = errors.New("not started")

	// ErrExists means that an endpoint of that session, or a mount of that path, is there already.
	ErrExists = errors.New("exists already")
	// ErrUnknownEndpoint means that the session has no endpoint.
	ErrUnknownEndpoint = errors.New("no endpoint")
	// ErrNotLoopback means that the server would listen beyond this machine, and nobody has allowed that.
	ErrNotLoopback = errors.New("not a loopback address")

	// ErrNoTurn is the cause with which calls end when the turn that they belong to has ended.
	ErrNoTurn = errors.New("no turn is active")
	// ErrCallerGone is the cause with which calls end when their client has gone.
	ErrCallerGone = errors.New("the caller has gone")
	// ErrStopping is the cause with which calls end when their server stops.
	ErrStopping = errors.New("the tool server stops")
)
