package messages

import "errors"

// ErrTooLarge means that a value is over a documented limit. The error that wraps it names
// the value, its size and the limit.
var ErrTooLarge = errors.New("too large")
