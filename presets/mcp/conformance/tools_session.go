//nolint:staticcheck // The suite asks for sampling, roots and logging, which the newest version of the protocol deprecates.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/presets/mcp"
)

// pause is between the messages of a tool that sends several, so that they are seen as such.
const pause = 50 * time.Millisecond

// sessionTools talk to the client while they run.
func sessionTools() []mcp.Tool {
	return []mcp.Tool{
		fixture("test_tool_with_logging", "Logs three times.", anyArguments, logs),
		fixture("test_logging_tool", "Logs once, if the client wants it.", anyArguments, logsOnce),
		fixture("test_tool_with_progress", "Reports progress three times.", anyArguments, reports),
		fixture("test_streaming_elicitation", "Sends nothing but its result.", anyArguments, always(&sdk.TextContent{Text: "Only a result."})),
		fixture("test_reconnection", "Closes its stream; the client comes back for the result.", anyArguments, closesStream),
		fixture("test_missing_capability", "Needs a client that can sample.", anyArguments, needsSampling),
		fixture("test_sampling", "Asks the client's model.", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`, samples),
		fixture("test_elicitation", "Asks the client's person.", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, elicits),
		fixture("test_elicitation_sep1034_defaults", "Asks with defaults.", anyArguments, asks("Check these values.", defaultsForm)),
		fixture("test_elicitation_sep1330_enums", "Asks with choices.", anyArguments, asks("Choose.", choicesForm)),
	}
}

// sleep waits, or ends with the call.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func logs(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: text}); err != nil {
			return nil, err
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
	return says("Logged."), nil
}

func logsOnce(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: "A line of the log."}); err != nil {
		return nil, err
	}
	return says("Logged, if that was wanted."), nil
}

func reports(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		if token != nil {
			params := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100, Message: fmt.Sprintf("%v of 100", done)}
			if err := req.Session.NotifyProgress(ctx, params); err != nil {
				return nil, err
			}
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
	return says(fmt.Sprint(token)), nil
}

func closesStream(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
	}
	if err := sleep(ctx, 2*pause); err != nil {
		return nil, err
	}
	return says("The client has come back."), nil
}

func needsSampling(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if capabilities := req.ClientCapabilities(); capabilities != nil && capabilities.Sampling != nil {
		return says("The client can sample."), nil
	}
	data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "this tool needs a client that can sample", Data: data}
}

func samples(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct {
		Prompt string `json:"prompt"`
	}
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	message := &sdk.SamplingMessage{Role: "user", Content: &sdk.TextContent{Text: in.Prompt}}
	answer, err := req.Session.CreateMessage(ctx, &sdk.CreateMessageParams{Messages: []*sdk.SamplingMessage{message}, MaxTokens: 100})
	if err != nil {
		return nil, err
	}
	text, ok := answer.Content.(*sdk.TextContent)
	if !ok {
		return says("The model's answer is no text."), nil
	}
	return says("LLM response: " + text.Text), nil
}

func elicits(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	form := `{"type":"object","properties":{"username":{"type":"string","description":"The person's answer."}},"required":["username"]}`
	return elicit(ctx, req, in.Message, form)
}

// asks returns a handler that puts one form to the client's person.
func asks(message, form string) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return elicit(ctx, req, message, form)
	}
}

func elicit(ctx context.Context, req *sdk.CallToolRequest, message, form string) (*sdk.CallToolResult, error) {
	answer, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: message, RequestedSchema: json.RawMessage(form)})
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(answer.Content)
	if err != nil {
		return nil, err
	}
	return says(fmt.Sprintf("Elicitation completed: action=%s, content=%s", answer.Action, content)), nil
}

const defaultsForm = `{"type":"object","properties":{
  "name":{"type":"string","description":"A name.","default":"John Doe"},
  "age":{"type":"integer","description":"An age.","default":30},
  "score":{"type":"number","description":"A score.","default":95.5},
  "status":{"type":"string","description":"A status.","enum":["active","inactive","pending"],"default":"active"},
  "verified":{"type":"boolean","description":"Whether it is verified.","default":true}}}`

const choicesForm = `{"type":"object","properties":{
  "untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
  "titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]},
  "legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["One","Two","Three"]},
  "untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
  "titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]}}}}`
