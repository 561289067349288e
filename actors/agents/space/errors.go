package space

import (
	"errors"
	"fmt"

	"agentd/providers/opencode"
)

var (
	// ErrInvalid means that an option is unusable; the text names it.
	ErrInvalid = errors.New("invalid option of the space agent")
	// ErrNoModel means that nobody has said which model answers.
	ErrNoModel = errors.New("no model is named for the space agent: name one as PROVIDER/MODEL, such as opencode/big-pickle")
	// ErrNoAnswer means that OpenCode was done without the model having answered.
	ErrNoAnswer = errors.New("the model gave no answer")
	// ErrRetries means that the model provider kept failing, and the turn was stopped.
	ErrRetries = errors.New("gave up after retries of the model provider")
	// ErrStuck means that OpenCode took a prompt and never began, or does not end what it was told to.
	ErrStuck = errors.New("OpenCode is stuck")
)

// advice says what a person can do about an error. The first that matches counts.
type advice struct {
	err  error
	text string
}

func advices() []advice {
	return []advice{
		{opencode.ErrNotInstalled, "install it with \"npm install -g opencode-ai\", or name its executable in the configuration"},
		{opencode.ErrNotReady, "see whether \"opencode serve\" starts by hand, then try again"},
		{opencode.ErrServerExited, "send the prompt again: a fresh OpenCode is started for it; if that fails again, \"agentd doctor --probe\" tells why"},
		{opencode.ErrUnknownModel, "name a model that \"opencode models\" lists, or log in to its provider with \"opencode auth login\""},
		{opencode.ErrProviderAuth, "log in with \"opencode auth login\", or check the provider's key in the configuration"},
		{opencode.ErrRateLimited, "wait and send the prompt again, or name another model"},
		{ErrRetries, "wait and send the prompt again, or name another model"},
		{opencode.ErrContextOverflow, "begin a new session, or ask for less at once"},
		{opencode.ErrOutputLength, "ask for a shorter answer, or for it in parts"},
		{opencode.ErrContentFilter, "put the prompt in other words"},
		{opencode.ErrProvider, "the fault is the model provider's: send the prompt again later, or name another model"},
		{opencode.ErrAborted, "something else has stopped it in OpenCode: send the prompt again"},
		{opencode.ErrIncomplete, "send the prompt again"},
		{ErrNoAnswer, "send the prompt again, or name another model"},
		{ErrStuck, "send the prompt again"},
		{opencode.ErrUnauthorized, "something else answers at OpenCode's address: restart agentd"},
		{opencode.ErrStreamLost, "send the prompt again"},
		{opencode.ErrUnreachable, "send the prompt again"},
		{opencode.ErrTooLarge, "begin a new session"},
		{opencode.ErrServer, "see OpenCode's log (opencode/log in its data folder), and send the prompt again"},
		{opencode.ErrUnexpectedReply, "the installed version of OpenCode may not be supported: \"agentd doctor\" tells"},
		{opencode.ErrBadRequest, "the installed version of OpenCode may not be supported: \"agentd doctor\" tells"},
	}
}

// explained puts behind an error what a person can do about it.
func explained(err error) error {
	if err == nil {
		return nil
	}
	for _, a := range advices() {
		if errors.Is(err, a.err) {
			return fmt.Errorf("%w; what to do: %s", err, a.text)
		}
	}
	return err
}
