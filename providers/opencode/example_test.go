package opencode_test

import (
	"context"
	"fmt"

	"agentd/providers/opencode"
)

// A turn with its text as it comes. The events are subscribed to before the prompt, because they are not told again.
func Example() {
	ctx := context.Background()
	server, err := opencode.StartServer(ctx, opencode.ServerParams{
		Path: "opencode", Dir: "/home/me/project", ConfigHome: "/home/me/.local/share/agentd/agent-opencode",
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Stop(ctx) }()
	client := server.Client()
	events, err := client.Events(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer events.Close()
	session, err := client.CreateSession(ctx, opencode.NewSession{Title: "greeting"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := client.PromptAsync(ctx, session.ID, opencode.PromptParams{
		Text: "Say hello.", Model: opencode.Model{ProviderID: "anthropic", ModelID: "claude-sonnet-5"},
	}); err != nil {
		fmt.Println(err)
		return
	}
	for event := range events.C() {
		if event.SessionID != session.ID {
			continue
		}
		switch body := event.Body.(type) {
		case opencode.PartDelta:
			fmt.Print(body.Delta)
		case opencode.SessionError:
			fmt.Println(body.Err)
		case opencode.SessionIdle:
			return
		}
	}
	fmt.Println(events.Err())
}

func ExampleParseModel() {
	model, err := opencode.ParseModel("openrouter/vendor/model")
	fmt.Println(model.ProviderID, model.ModelID, err)
	// Output: openrouter vendor/model <nil>
}
