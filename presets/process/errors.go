package process

import "errors"

// Errors of this package. They are wrapped, so compare with [errors.Is].
var (
	// ErrInvalid means that [Params] or [Options] are unusable; the text names the field.
	ErrInvalid = errors.New("invalid process parameters")
	// ErrSurvivors means that a part of the tree could not be ended; [Exit.Survivors] has the process ids.
	ErrSurvivors = errors.New("processes survived being killed")
	// ErrNoStdin means that the process was started without a stdin pipe.
	ErrNoStdin = errors.New("process has no stdin pipe: set Params.OpenStdin")
)
