package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Names of the protocol.
const (
	methodInitialize      = "initialize"
	methodPing            = "ping"
	methodDiscover        = "server/discover"
	methodCallTool        = "tools/call"
	methodListTools       = "tools/list"
	methodListen          = "subscriptions/listen"
	notificationCancelled = "notifications/cancelled"

	// firstModern is the first version without initialize: each request says its version in its metadata.
	firstModern = "2026-07-28"
	// lastLegacy is the newest version that initialize can agree on.
	lastLegacy = "2025-11-25"
)

// Guard puts the guards that every transport needs around a server: a handler that panics answers an error and its session lives;
// an initialize that asks for a version of the newer lifecycle is answered with the newest version that initialize has; methods that
// the server does not have are answered so; and no more than so many tool calls run at once. Use it once on a server, before it serves.
// [RunStdio] does it by itself. The error names a bad option.
func Guard(server *sdk.Server, opts GuardOptions) error {
	options := opts.withDefaults()
	if err := options.validate(); err != nil {
		return fmt.Errorf("guarding a server: %w", err)
	}
	g := &guard{options: options, permits: make(chan struct{}, options.MaxConcurrent)}
	// The order matters: the first one is the outermost.
	server.AddReceivingMiddleware(g.recover, g.gate, g.negotiate, g.limit)
	return nil
}

// guard holds what the guards of one server share.
type guard struct {
	options GuardOptions
	permits chan struct{} // holds one for each call that runs
}

// recover turns a panic into an answer. Without it a handler that panics ends the process.
func (g *guard) recover(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		defer func() {
			fault := recover()
			if fault == nil {
				return
			}
			g.options.Logger.Error("A handler panicked.", slog.String("method", method),
				slog.String("panic", fmt.Sprint(fault)), slog.String("stack", string(debug.Stack())))
			result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
			if method == methodCallTool {
				result, err = g.options.Panicked(), nil
			}
		}()
		result, err = next(ctx, method, req)
		return result, g.wireError(method, err)
	}
}

// wireError gives an error a code of JSON-RPC. The engine sends a plain error with code 0 and its whole text.
func (g *guard) wireError(method string, err error) error {
	var wire *jsonrpc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wire) && wire.Code != 0:
		return err
	case method == methodInitialize:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "this session is initialized already"}
	}
	g.options.Logger.Warn("A handler returned an error that is not of the protocol.", slog.String("method", method), slog.String("error", err.Error()))
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
}

// gate refuses the methods that the server does not have. The engine answers them with empty lists.
func (g *guard) gate(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if !slices.Contains(g.options.Methods, method) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", method)}
		}
		return next(ctx, method, req)
	}
}

// negotiate corrects what the client asks for. The engine answers rightly but goes on to treat the session as
// one of the newer lifecycle, which then gets no notifications (modelcontextprotocol/go-sdk#1258).
func (g *guard) negotiate(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if params, ok := req.GetParams().(*sdk.InitializeParams); ok && params != nil && params.ProtocolVersion >= firstModern {
			params.ProtocolVersion = lastLegacy
		}
		return next(ctx, method, req)
	}
}

// limit lets so many calls run. A permit is given back when the handler returns, not when its client stops waiting.
func (g *guard) limit(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method != methodCallTool {
			return next(ctx, method, req)
		}
		select {
		case g.permits <- struct{}{}:
		default:
			return g.options.Busy(), nil
		}
		defer func() { <-g.permits }()
		return next(ctx, method, req)
	}
}

// Failure returns the answer of a call that came to nothing: {"ok":false,"error":{"code":…,"message":…}}, as structured content and as
// the same text.
func Failure(code, message string) *sdk.CallToolResult {
	type fault struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	text, err := json.Marshal(struct {
		OK    bool  `json:"ok"`
		Error fault `json:"error"`
	}{Error: fault{code, message}})
	if err != nil { // Two strings can always be encoded.
		text = []byte(`{"ok":false}`)
	}
	return &sdk.CallToolResult{
		IsError: true, StructuredContent: json.RawMessage(text), Content: []sdk.Content{&sdk.TextContent{Text: string(text)}},
	}
}
