package opencode

import (
	"errors"
	"fmt"
	"net/http"
)

// Errors of the server and the transport. All errors are wrapped, so compare with [errors.Is].
var (
	// ErrInvalid means that parameters or options are unusable; the text names the field.
	ErrInvalid = errors.New("invalid parameters for OpenCode")
	// ErrNotInstalled means that the executable was not found.
	ErrNotInstalled = errors.New("OpenCode is not installed: install it, or name the executable")
	// ErrNotReady means that the server did not begin to listen in time.
	ErrNotReady = errors.New("OpenCode did not become ready in time")
	// ErrServerExited means that the server's process has ended, by a crash or by [Server.Stop].
	ErrServerExited = errors.New("OpenCode has exited")
	// ErrUnreachable means that nothing answered at the server's address.
	ErrUnreachable = errors.New("OpenCode is not reachable")
	// ErrUnauthorized means that the server did not take the password.
	ErrUnauthorized = errors.New("OpenCode refused the password")
	// ErrBadRequest means that the server could not read the request.
	ErrBadRequest = errors.New("OpenCode refused the request")
	// ErrServer means that something went wrong inside of the server; its log has the reason.
	ErrServer = errors.New("OpenCode had an internal error")
	// ErrUnexpectedReply means that the answer was not what the interface promises: the web page, empty, or no JSON.
	ErrUnexpectedReply = errors.New("OpenCode gave an unexpected reply")
	// ErrTooLarge means that an answer or an event was larger than [ClientOptions] allow.
	ErrTooLarge = errors.New("reply of OpenCode is too large")
	// ErrStreamLost means that the event stream could not be brought back.
	ErrStreamLost = errors.New("event stream of OpenCode was lost")
)

// Errors about things that do not exist on the server.
var (
	// ErrSessionNotFound means that the server definitely does not know the session.
	ErrSessionNotFound = errors.New("OpenCode does not know the session")
	// ErrMessageNotFound means that the session has no such message.
	ErrMessageNotFound = errors.New("OpenCode does not know the message")
	// ErrPermissionNotFound means that the permission request is not pending.
	ErrPermissionNotFound = errors.New("OpenCode does not know the permission request")
	// ErrQuestionNotFound means that the question is not pending.
	ErrQuestionNotFound = errors.New("OpenCode does not know the question")
	// ErrMCPServerNotFound means that no MCP server of that name is configured.
	ErrMCPServerNotFound = errors.New("OpenCode does not know the MCP server")
	// ErrUnknownModel means that no configured provider has the model.
	ErrUnknownModel = errors.New("OpenCode does not know the model")
	// ErrUnknownAgent means that no agent of that name is configured.
	ErrUnknownAgent = errors.New("OpenCode does not know the agent")
)

// Errors of a turn: how the model's answer went wrong. They come wrapped in a [ModelError].
var (
	// ErrAborted means that the turn was aborted.
	ErrAborted = errors.New("the turn was aborted")
	// ErrProviderAuth means that the model provider refused the key or the login.
	ErrProviderAuth = errors.New("the model provider refused the credentials")
	// ErrRateLimited means that the model provider limits the rate, and went on doing so.
	ErrRateLimited = errors.New("the model provider limits the rate")
	// ErrProvider means that the model provider answered with another error.
	ErrProvider = errors.New("the model provider failed")
	// ErrContextOverflow means that the conversation is too long for the model.
	ErrContextOverflow = errors.New("the conversation is too long for the model")
	// ErrOutputLength means that the answer hit the model's output limit.
	ErrOutputLength = errors.New("the answer is too long for the model")
	// ErrContentFilter means that the provider's filter stopped the answer.
	ErrContentFilter = errors.New("the provider's content filter stopped the answer")
	// ErrStructuredOutput means that the model did not produce the structure that was asked for.
	ErrStructuredOutput = errors.New("the model did not give the structured output")
	// ErrIncomplete means that the answer has neither an end nor an error; an abort between two attempts looks like that.
	ErrIncomplete = errors.New("the answer has no end")
	// ErrModel means any other error of a turn.
	ErrModel = errors.New("the turn failed")
)

// APIError is an answer of the server that reports an error. It unwraps to one of the sentinels.
type APIError struct {
	// Op says in words what was tried.
	Op string
	// Status is the HTTP status.
	Status int
	// Name is the server's own name for the error, such as "NotFoundError"; it may be empty.
	Name string
	// Message is the server's text, bounded; it may be empty.
	Message string
	// Ref finds the error in the server's log; it may be empty.
	Ref string

	kind error
}

// Error says what was tried, what it means, and the server's own words.
func (e *APIError) Error() string {
	text := fmt.Sprintf("%s: %v (status %d", e.Op, e.kind, e.Status)
	if e.Name != "" {
		text += ", " + e.Name
	}
	if e.Ref != "" {
		text += ", log reference " + e.Ref
	}
	text += ")"
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Unwrap returns the sentinel.
func (e *APIError) Unwrap() error { return e.kind }

// ModelError is the error that a turn ended with. It unwraps to one of the sentinels.
type ModelError struct {
	// Name is the server's own name for the error, such as "APIError".
	Name string
	// Message is the text of the server or the provider.
	Message string
	// Status is the provider's HTTP status; zero if it has none.
	Status int
	// Retryable says that the provider's error may pass; the server has already tried again.
	Retryable bool
	// Raw is the error as it came.
	Raw string
}

// Error says what it means and the message.
func (e *ModelError) Error() string {
	text := e.Unwrap().Error()
	if e.Status != 0 {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Unwrap returns the sentinel for the name and the status.
func (e *ModelError) Unwrap() error {
	switch e.Name {
	case "MessageAbortedError":
		return ErrAborted
	case "ProviderAuthError":
		return ErrProviderAuth
	case "ContextOverflowError":
		return ErrContextOverflow
	case "MessageOutputLengthError":
		return ErrOutputLength
	case "ContentFilterError":
		return ErrContentFilter
	case "StructuredOutputError":
		return ErrStructuredOutput
	case "APIError":
		switch e.Status {
		case http.StatusUnauthorized, http.StatusForbidden:
			return ErrProviderAuth
		case http.StatusTooManyRequests:
			return ErrRateLimited
		}
		return ErrProvider
	default:
		return ErrModel
	}
}
