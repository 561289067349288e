package main

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// prompt returns a handler that always answers the same.
func prompt(description string, contents ...sdk.Content) sdk.PromptHandler {
	return func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return messagesOf(description, contents...), nil
	}
}

func messagesOf(description string, contents ...sdk.Content) *sdk.GetPromptResult {
	result := &sdk.GetPromptResult{Description: description}
	for _, content := range contents {
		result.Messages = append(result.Messages, &sdk.PromptMessage{Role: "user", Content: content})
	}
	return result
}

func argument(name string) *sdk.PromptArgument {
	return &sdk.PromptArgument{Name: name, Description: "An argument.", Required: true}
}

// addPrompts adds what the suite asks for.
func addPrompts(server *sdk.Server) {
	text := func(text string) sdk.Content { return &sdk.TextContent{Text: text} }
	server.AddPrompt(&sdk.Prompt{Name: "test_simple_prompt", Description: "Has no arguments."}, prompt("Simple.", text("This is a simple prompt for testing.")))
	server.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_image", Description: "Has a picture."},
		prompt("With a picture.", &sdk.ImageContent{Data: pixel(), MIMEType: "image/png"}, text("Please analyze the image above.")))
	server.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_arguments", Description: "Has arguments.", Arguments: []*sdk.PromptArgument{argument("arg1"), argument("arg2")}},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			args := req.Params.Arguments
			return messagesOf("With arguments.", text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"]))), nil
		})
	server.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_embedded_resource", Description: "Has a resource.", Arguments: []*sdk.PromptArgument{argument("resourceUri")}},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return messagesOf("With a resource.", embedded(req.Params.Arguments["resourceUri"]), text("Please process the embedded resource above.")), nil
		})
	server.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for context."}, askingPrompt)
}

func askingPrompt(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	questions := question("user_context", form("Please give context.", "context", "string"))
	if !answered(questions, req.Params.InputResponses) {
		return &sdk.GetPromptResult{InputRequests: questions}, nil
	}
	return messagesOf("With context.", &sdk.TextContent{Text: "Context: " + field(req.Params.InputResponses, "user_context", "context")}), nil
}
