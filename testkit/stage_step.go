package testkit

import (
	"errors"
	"fmt"
	"strings"

	"agentd/messages"
)

// step reads one step of a script.
func (s *stage) step(text string) (Step, error) {
	word, rest, _ := strings.Cut(text, " ")
	first, second, _ := strings.Cut(rest, " ")
	switch word {
	case "say":
		return Say(rest), nil
	case "draft":
		return Draft(messages.ItemID(first), second), nil
	case "final":
		return Final(messages.ItemID(first), second), nil
	case "open-call":
		return OpenCall(messages.CallID(first), second), nil
	case "call":
		return Use(first, second), nil
	case "data":
		return SetData(first, second), nil
	case "gate":
		return s.gate(first).Wait(), nil
	case "hang":
		return s.gate(first).Hang(), nil
	case "cancelled":
		return UntilCancelled(), nil
	default:
		return s.ending(word, rest)
	}
}

// ending reads a step that has to do with the end of a turn.
func (s *stage) ending(word, rest string) (Step, error) {
	switch word {
	case "hook":
		return Hook(func() error {
			s.tell("the hook ran")
			if rest != "" {
				return errors.New(rest)
			}
			return nil
		}), nil
	case "finish":
		return Finish(rest), nil
	case "fail":
		return Fail(rest), nil
	case "error":
		return Return(rest), nil
	case "panic":
		return Panic(rest), nil
	default:
		return nil, fmt.Errorf("unknown step %q of a script", word)
	}
}
