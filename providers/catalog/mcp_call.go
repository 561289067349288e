package catalog

import (
	"bytes"
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fillIn makes arguments that are null none, as if they were left out. The engine puts defaults into them and panics.
func fillIn(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if call, ok := req.GetParams().(*sdk.CallToolParamsRaw); ok && call != nil && string(bytes.TrimSpace(call.Arguments)) == "null" {
			call.Arguments = nil
		}
		return next(ctx, method, req)
	}
}

// spellOut makes the results of calls say "isError":false, which the engine leaves out and the contract has.
func spellOut(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		if call, ok := result.(*sdk.CallToolResult); ok && call != nil && !call.IsError && err == nil {
			return spelledResult{call}, nil
		}
		return result, err
	}
}

// spelledResult is a result that says that it is no error.
type spelledResult struct{ *sdk.CallToolResult }

// MarshalJSON implements [json.Marshaler].
func (r spelledResult) MarshalJSON() ([]byte, error) {
	plain, err := r.CallToolResult.MarshalJSON()
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(plain, []byte("{"))
	if !ok || bytes.HasPrefix(rest, []byte("}")) {
		return nil, fmt.Errorf("encoding a result: %q is no object with members", plain)
	}
	return append([]byte(`{"isError":false,`), rest...), nil
}
