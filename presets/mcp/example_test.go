package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/mcp"
)

// clock is a surface with one tool. Its approvals let everything of normal risk run and know nothing else.
func clock() *presets.Surface {
	manager, err := presets.NewManager(nil)
	if err != nil {
		panic(err)
	}
	err = manager.RegisterAdapter(presets.Adapter{
		ID: "clock.now", Name: "space_clock_now", Description: "Tells the time.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Make: presets.Bind(func(context.Context, presets.Env, struct{}) (presets.Result, error) { return presets.Text("noon"), nil }),
	})
	if err != nil {
		panic(err)
	}
	preset := presets.Preset{Name: "clock", Risk: messages.RiskNormal, ToolIDs: []string{"clock.now"}, Contexts: []presets.Pattern{{}}, Prompt: "Ask the clock."}
	if err := manager.RegisterPreset(preset); err != nil {
		panic(err)
	}
	surface, err := presets.NewSurface(manager, nobody{}, nil)
	if err != nil {
		panic(err)
	}
	return surface
}

// nobody is approvals of which an example needs one method.
type nobody struct{ presets.Approvals }

func (nobody) Standing(context.Context, presets.Caller) (presets.Standing, error) {
	return presets.Standing{Policy: presets.DefaultPolicy()}, nil
}

// An agent that we start is given the URL of its session's endpoint and the token, and may call while a turn is bound.
func ExampleHTTPServer() {
	ctx := context.Background()
	server, err := mcp.NewHTTPServer(clock(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := server.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Stop(ctx) }()
	endpoint, err := server.Open(ctx, presets.Caller{SessionID: "agt-ses-1", AgentID: "space"})
	if err != nil {
		fmt.Println(err)
		return
	}
	binding, err := endpoint.Bind(mcp.Turn{Caller: presets.Caller{SessionID: "agt-ses-1", TurnID: "turn-1", AgentID: "space"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer binding.Release()
	fmt.Println(strings.HasPrefix(endpoint.URL(), "http://127.0.0.1:"), len(endpoint.Headers()))
	fmt.Println(endpoint.Status().Tools.Tools)
	// Output:
	// true 1
	// [space_agent_request_tool_approval space_clock_now]
}

// A client that starts us speaks over our standard streams.
func ExampleToolServer_RunStdio() {
	ctx := context.Background()
	tools, err := mcp.NewToolServer(clock(), presets.Caller{SessionID: "agt-ses-1"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := tools.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer tools.Stop()
	if _, err := tools.Bind(mcp.Turn{Caller: presets.Caller{SessionID: "agt-ses-1"}}); err != nil {
		fmt.Println(err)
		return
	}
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	var out strings.Builder
	fmt.Println(tools.RunStdio(ctx, in, &out, nil))
	fmt.Print(out.String())
	// Output:
	// <nil>
	// {"jsonrpc":"2.0","id":1,"result":{}}
}
