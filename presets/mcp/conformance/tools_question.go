//nolint:staticcheck // The suite asks for sampling, roots and logging, which the newest version of the protocol deprecates.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentd/presets/mcp"
)

// questionTools answer with questions to the client, which calls again with the answers.
func questionTools() []mcp.Tool {
	seal := newSeal()
	return []mcp.Tool{
		fixture("test_input_required_result_elicitation", "Asks for a name.", anyArguments, once(question("user_name", form("What is your name?", "name", "string")), greet)),
		fixture("test_input_required_result_sampling", "Asks the client's model.", anyArguments, once(question("capital_question", sampling("What is the capital of France?")), quote)),
		fixture("test_input_required_result_list_roots", "Asks for the client's roots.", anyArguments, once(question("client_roots", &sdk.ListRootsParams{}), countRoots)),
		fixture("test_input_required_result_request_state", "Asks, and checks its state.", anyArguments, seal.once(question("confirm", form("Please confirm.", "ok", "boolean")))),
		fixture("test_input_required_result_tampered_state", "Asks, and refuses a state that is not its own.", anyArguments, seal.once(question("confirm", form("Please confirm.", "ok", "boolean")))),
		fixture("test_input_required_result_multiple_inputs", "Asks three things at once.", anyArguments, seal.once(sdk.InputRequestMap{
			"user_name": form("What is your name?", "name", "string"), "greeting": sampling("Greet somebody."), "client_roots": &sdk.ListRootsParams{},
		})),
		fixture("test_input_required_result_multi_round", "Asks twice.", anyArguments, seal.twice),
		fixture("test_input_required_result_capabilities", "Asks what the client can answer.", anyArguments, asksWhatFits),
	}
}

func question(name string, request sdk.InputRequest) sdk.InputRequestMap {
	return sdk.InputRequestMap{name: request}
}

// form asks the client's person for one value.
func form(message, field, kind string) *sdk.ElicitParams {
	schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, field, kind, field)
	return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}
}

func sampling(prompt string) *sdk.CreateMessageParams {
	message := &sdk.SamplingMessage{Role: "user", Content: &sdk.TextContent{Text: prompt}}
	return &sdk.CreateMessageParams{Messages: []*sdk.SamplingMessage{message}, MaxTokens: 100}
}

// answered reports whether there is an answer of the right kind to each question.
func answered(questions sdk.InputRequestMap, answers sdk.InputResponseMap) bool {
	for name, request := range questions {
		ok := false
		switch request.(type) {
		case *sdk.ElicitParams:
			answer, is := answers[name].(*sdk.ElicitResult)
			ok = is && answer.Action == "accept"
		case *sdk.ListRootsParams:
			_, ok = answers[name].(*sdk.ListRootsResult)
		default:
			ok = sampledText(answers[name]) != ""
		}
		if !ok {
			return false
		}
	}
	return true
}

// sampledText is the text of a model's answer, in either of its shapes.
func sampledText(answer sdk.InputResponse) string {
	switch answer := answer.(type) {
	case *sdk.CreateMessageResult:
		if text, ok := answer.Content.(*sdk.TextContent); ok {
			return text.Text
		}
	case *sdk.CreateMessageWithToolsResult:
		for _, content := range answer.Content {
			if text, ok := content.(*sdk.TextContent); ok {
				return text.Text
			}
		}
	}
	return ""
}

// once asks until everything is answered, and then answers itself.
func once(questions sdk.InputRequestMap, answer func(sdk.InputResponseMap) string) sdk.ToolHandler {
	return func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if !answered(questions, req.Params.InputResponses) {
			return &sdk.CallToolResult{InputRequests: questions}, nil
		}
		return says(answer(req.Params.InputResponses)), nil
	}
}

func greet(answers sdk.InputResponseMap) string {
	return "Hello, " + field(answers, "user_name", "name") + "!"
}

func quote(answers sdk.InputResponseMap) string { return sampledText(answers["capital_question"]) }

func countRoots(answers sdk.InputResponseMap) string {
	roots, ok := answers["client_roots"].(*sdk.ListRootsResult)
	if !ok {
		return "No roots."
	}
	return fmt.Sprintf("%d roots.", len(roots.Roots))
}

func field(answers sdk.InputResponseMap, name, key string) string {
	answer, ok := answers[name].(*sdk.ElicitResult)
	if !ok {
		return ""
	}
	return fmt.Sprint(answer.Content[key])
}

// seal makes states that only we can have made.
type seal struct{ key []byte }

func newSeal() seal { return seal{key: []byte(rand.Text())} }

func (s seal) close(text string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString([]byte(text)) + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// open returns the text of a state. One that was changed is an error of the protocol.
func (s seal) open(state string) (string, error) {
	encoded, _, _ := strings.Cut(state, ".")
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || !hmac.Equal([]byte(s.close(string(text))), []byte(state)) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request state is not one of ours"}
	}
	return string(text), nil
}

// once asks with a state, and answers when everything is answered and the state is ours.
func (s seal) once(questions sdk.InputRequestMap) sdk.ToolHandler {
	return func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if req.Params.RequestState != "" {
			if _, err := s.open(req.Params.RequestState); err != nil {
				return nil, err
			}
			if answered(questions, req.Params.InputResponses) {
				return says("state-ok"), nil
			}
		}
		return &sdk.CallToolResult{InputRequests: questions, RequestState: s.close("asked")}, nil
	}
}

// twice asks for a name and then for a colour. What it knows is in the state.
func (s seal) twice(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	first, second := question("step1", form("What is your name?", "name", "string")), question("step2", form("What is your favourite colour?", "color", "string"))
	if req.Params.RequestState == "" {
		return &sdk.CallToolResult{InputRequests: first, RequestState: s.close("first")}, nil
	}
	state, err := s.open(req.Params.RequestState)
	if err != nil {
		return nil, err
	}
	name, known := strings.CutPrefix(state, "second ")
	switch {
	case known && answered(second, req.Params.InputResponses):
		return says(name + " likes " + field(req.Params.InputResponses, "step2", "color") + "."), nil
	case known:
		return &sdk.CallToolResult{InputRequests: second, RequestState: req.Params.RequestState}, nil
	case answered(first, req.Params.InputResponses):
		next := s.close("second " + field(req.Params.InputResponses, "step1", "name"))
		return &sdk.CallToolResult{InputRequests: second, RequestState: next}, nil
	}
	return &sdk.CallToolResult{InputRequests: first, RequestState: s.close("first")}, nil
}

// asksWhatFits asks only what the client says that it can answer.
func asksWhatFits(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return says("Answered."), nil
	}
	questions := sdk.InputRequestMap{}
	if capabilities := req.ClientCapabilities(); capabilities != nil {
		if capabilities.Elicitation != nil {
			questions["user_name"] = form("What is your name?", "name", "string")
		}
		if capabilities.Sampling != nil {
			questions["greeting"] = sampling("Greet somebody.")
		}
		if capabilities.RootsV2 != nil {
			questions["client_roots"] = &sdk.ListRootsParams{}
		}
	}
	if len(questions) == 0 {
		return says("The client can answer nothing."), nil
	}
	return &sdk.CallToolResult{InputRequests: questions}, nil
}
