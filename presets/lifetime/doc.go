// Package lifetime ties what runs to more than one life: a tool call ends with the request that carries it, and also with the turn, the
// connection or the server that it belongs to. The MCP server, the bridges of providers and agents use it.
//
// Promises:
//
//   - Cause. The joined context ends with the cause of whichever life ends first.
//   - Values and deadline are those of the first context.
//   - Nothing is left. After the release nothing refers to the lives, and no goroutine was ever started.
//   - Blocking. No function blocks.
//
// For example:
//
//	ctx, release := lifetime.Join(request.Context(), turn)
//	defer release()
package lifetime
