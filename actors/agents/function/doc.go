// Package function makes an agent of a Go function, for hosts that answer turns themselves.
//
//	err := function.Register(agents, "upper", "Upper case", func(ctx context.Context, turn *actors.TurnContext) (string, error) {
//		return strings.ToUpper(turn.Input), nil
//	})
//
// Promises:
//
//   - The text that the function returns is stored as the assistant's message, in the same commit as the end of the turn.
//   - An error fails the turn with its text; a panic fails it too, and nothing else.
//   - The function runs on a goroutine of its turn and may block; its context ends when the turn is cancelled.
//   - It may use everything that a turn gives: items, drafts, tools, data.
package function
