package catalog

import (
	"errors"
	"fmt"
)

// Code is the machine-readable kind of a failed operation. Callers decide by it and not by the message.
type Code string

// The codes of the contract.
const (
	// InvalidRequest means that an argument is outside its limits.
	InvalidRequest Code = "invalid_request"
	// InvalidAgent means that no agent has this name.
	InvalidAgent Code = "invalid_agent"
	// OutOfScope means that the request asks for something outside the configured scope.
	OutOfScope Code = "out_of_scope"
	// NotFound means that no session within the scope has this id.
	NotFound Code = "not_found"
	// AmbiguousSession means that several sessions have this agent and id; name the project.
	AmbiguousSession Code = "ambiguous_session"
	// ScanFailed means that the selected store cannot be read at all.
	ScanFailed Code = "scan_failed"
	// InvalidResumePlan means that the agent has no such mode.
	InvalidResumePlan Code = "invalid_resume_plan"
	// Busy means that too many operations run; try again later. Adapters use it.
	Busy Code = "busy"
	// InternalError means a fault of this program. Adapters use it.
	InternalError Code = "internal_error"
)

// Error is a failed operation. Its message holds nothing from a store but ids and project paths that the caller gave.
type Error struct {
	// Code is the kind.
	Code Code `json:"code"`
	// Message is for people.
	Message string `json:"message"`
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// AsError returns err as an [Error]; one of another kind becomes [InternalError] without its text, which may hold
// what does not belong in an answer.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: InternalError, Message: "the operation ended with an unexpected error; see the diagnostics"}
}

func failf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
