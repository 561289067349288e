package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/mcp"
)

// session is the session whose tools the plain modes show.
const session = messages.SessionID("agt-ses-conformance")

// serveFixtures shows the fixtures on a path of the product's HTTP front.
func serveFixtures(ctx context.Context, out io.Writer) error {
	surface, err := plainSurface()
	if err != nil {
		return err
	}
	front, err := mcp.NewHTTPServer(surface, &mcp.HTTPOptions{Anonymous: true})
	if err != nil {
		return err
	}
	server, err := fixtureServer(ctx)
	if err != nil {
		return err
	}
	guard := mcp.GuardOptions{Methods: append(mcp.ToolMethods(), otherMethods()...), MaxConcurrent: 100}
	path, err := front.Mount("fixtures", server, guard, nil)
	if err != nil {
		return err
	}
	return serve(ctx, front, out, func() string { return front.Status().URL + path })
}

// otherMethods are those of the fixtures beside tools.
func otherMethods() []string {
	return []string{
		"prompts/list", "prompts/get", "resources/list", "resources/read", "resources/templates/list", "resources/subscribe",
		"resources/unsubscribe", "completion/complete", "logging/setLevel",
	}
}

// servePlain shows the endpoint of a session, with a turn that never ends.
func servePlain(ctx context.Context, out io.Writer) error {
	surface, err := plainSurface()
	if err != nil {
		return err
	}
	front, err := mcp.NewHTTPServer(surface, &mcp.HTTPOptions{Anonymous: true})
	if err != nil {
		return err
	}
	endpoint, err := front.Open(ctx, presets.Caller{SessionID: session})
	if err != nil {
		return err
	}
	if _, err := endpoint.Bind(mcp.Turn{Caller: presets.Caller{SessionID: session}}); err != nil {
		return err
	}
	return serve(ctx, front, out, endpoint.URL)
}

// serve runs the front until the context ends.
func serve(ctx context.Context, front *mcp.HTTPServer, out io.Writer, url func() string) error {
	if err := front.Start(ctx); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "listening", url()); err != nil {
		return err
	}
	<-ctx.Done()
	return front.Stop(context.WithoutCancel(ctx))
}

// serveStdio shows the same tools over stdio.
func serveStdio(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	surface, err := plainSurface()
	if err != nil {
		return err
	}
	tools, err := mcp.NewToolServer(surface, presets.Caller{SessionID: session}, nil)
	if err != nil {
		return err
	}
	if err := tools.Start(ctx); err != nil {
		return err
	}
	defer tools.Stop()
	if _, err := tools.Bind(mcp.Turn{Caller: presets.Caller{SessionID: session}}); err != nil {
		return err
	}
	return tools.RunStdio(ctx, in, out, nil)
}

// plainSurface has one preset with a tool that answers and one that fails.
func plainSurface() (*presets.Surface, error) {
	manager, err := presets.NewManager(nil)
	if err != nil {
		return nil, err
	}
	type input struct {
		Text string `json:"text"`
	}
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)
	adapters := []presets.Adapter{
		{ID: "plain.echo", Name: "space_echo", Description: "Answers with its text.", InputSchema: schema, Idempotent: true, Make: presets.Bind(
			func(_ context.Context, _ presets.Env, in input) (presets.Result, error) { return presets.JSON(in) },
		)},
		{ID: "plain.fail", Name: "space_fail", Description: "Fails with its text.", InputSchema: schema, Idempotent: true, Make: presets.Bind(
			func(_ context.Context, _ presets.Env, in input) (presets.Result, error) {
				return presets.Result{}, fmt.Errorf("it was told to fail: %q", in.Text)
			},
		)},
	}
	for _, adapter := range adapters {
		if err := manager.RegisterAdapter(adapter); err != nil {
			return nil, err
		}
	}
	err = manager.RegisterPreset(presets.Preset{
		Name: "plain", Risk: messages.RiskNormal, ToolIDs: []string{"plain.echo", "plain.fail"}, Contexts: []presets.Pattern{{}}, Prompt: "For tests.",
	})
	if err != nil {
		return nil, err
	}
	return presets.NewSurface(manager, nobody{}, nil)
}

// fixtureServer has everything that the suite looks for.
func fixtureServer(ctx context.Context) (*sdk.Server, error) {
	server := sdk.NewServer(&sdk.Implementation{Name: "agentd-conformance", Version: "1"}, &sdk.ServerOptions{
		CompletionHandler: func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
		},
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	addResources(server)
	addPrompts(server)
	registry := mcp.NewRegistry(server)
	changer, err := newToolChanger(ctx, registry)
	if err != nil {
		return nil, err
	}
	share, err := registry.Claim("fixtures")
	if err != nil {
		return nil, err
	}
	tools := append(contentTools(), sessionTools()...)
	tools = append(tools, questionTools()...)
	tools = append(tools, changeTools(server, changer)...)
	if _, err := share.Replace(tools); err != nil {
		return nil, err
	}
	return server, nil
}
