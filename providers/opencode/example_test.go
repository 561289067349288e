package opencode_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"agentd/providers/opencode"
)

// A prompt to a server that stands already; a stand-in answers here.
func ExampleClient_Prompt() {
	standIn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.Method + " " + r.URL.Path {
		case "POST /session":
			fmt.Fprint(w, `{"id":"ses_1","title":"greeting"}`)
		case "POST /session/ses_1/message":
			fmt.Fprint(w, `{"info":{"id":"msg_2","role":"assistant","parentID":"msg_1","finish":"stop"},
				"parts":[{"type":"text","text":"Hello!"}]}`)
		}
	}))
	defer standIn.Close()

	ctx := context.Background()
	client, err := opencode.NewClient(standIn.URL, &opencode.ClientOptions{Password: "secret"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	session, err := client.CreateSession(ctx, opencode.NewSession{Title: "greeting"})
	if err != nil {
		fmt.Println(err)
		return
	}
	message, err := client.Prompt(ctx, session.ID, opencode.PromptParams{Text: "Say hello."})
	fmt.Println(message.Text(), err)
	// Output: Hello! <nil>
}

func ExampleParseModel() {
	model, err := opencode.ParseModel("openrouter/vendor/model")
	fmt.Println(model.ProviderID, model.ModelID, err)
	// Output: openrouter vendor/model <nil>
}
