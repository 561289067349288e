package presets

import "errors"

// Errors of this package. They are wrapped with the name of what they are about, so compare with [errors.Is].
var (
	// ErrInvalid means that a preset, adapter, context, override, grant or option breaks a rule; the text names the field.
	ErrInvalid = errors.New("invalid")
	// ErrExists means that the name or id is taken.
	ErrExists = errors.New("exists already")
	// ErrUnknownPreset means that no preset of that name is registered.
	ErrUnknownPreset = errors.New("unknown preset")
	// ErrUnknownAdapter means that no adapter of that id is registered.
	ErrUnknownAdapter = errors.New("unknown adapter")
	// ErrInUse means that an adapter cannot go while a preset names it.
	ErrInUse = errors.New("in use")
	// ErrConflict means that two active presets would offer one tool, or two active tools one external name.
	ErrConflict = errors.New("conflict among active presets")
	// ErrSchema means that a stored document was written by another version. It is refused and left untouched.
	ErrSchema = errors.New("unknown schema")

	// ErrUnknownTool means that no active tool has that name. Tools that are hidden from the caller are unknown too.
	ErrUnknownTool = errors.New("unknown tool")
	// ErrArguments means that the arguments of a call are not what the tool's schema says.
	ErrArguments = errors.New("invalid arguments")
	// ErrApprovalRequired means that a person has to decide before the call may run; it did not run.
	ErrApprovalRequired = errors.New("approval required")
	// ErrDenied means that a person or the policy refused the call; it did not run.
	ErrDenied = errors.New("denied")
	// ErrCancelled means that the call or its request was cancelled before it ran.
	ErrCancelled = errors.New("cancelled")
	// ErrExpired means that nobody decided in time; the call did not run.
	ErrExpired = errors.New("approval expired")
	// ErrInterrupted means that the call was cancelled while the tool ran; its effects are unknown.
	ErrInterrupted = errors.New("interrupted")
	// ErrToolFailed means that the tool ran and failed, or could not be built.
	ErrToolFailed = errors.New("tool failed")
	// ErrPanicked means that the tool panicked. It comes together with ErrToolFailed.
	ErrPanicked = errors.New("tool panicked")

	// ErrNotRecorded means that the recorder could not store a step of a call. Nothing of the call happens after it.
	ErrNotRecorded = errors.New("step of a call not recorded")

	// ErrUnknownRequest means that no request of that id waits: it never was, or it is decided already.
	ErrUnknownRequest = errors.New("unknown approval request")
	// ErrUnknownGrant means that no grant of that id stands: it never was, has expired or is revoked.
	ErrUnknownGrant = errors.New("unknown grant")
)
