package modelserver_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"agentd/testkit/modelserver"
)

// A script that is told in order: first a tool call, then an answer that uses its result.
func Example() {
	model, err := modelserver.Start(&modelserver.Options{Script: []modelserver.Step{
		{Reply: modelserver.Call("clock", map[string]string{"zone": "UTC"})},
		{Make: func(r modelserver.Request) modelserver.Reply {
			return modelserver.Say("It is " + r.Last().Text + ".")
		}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer model.Close()

	ask(model, `{"model":"fake-1","input":"What time is it?","tools":[{"type":"function","name":"clock"}]}`)
	ask(model, `{"model":"fake-1","input":[{"role":"user","content":"What time is it?"},
		{"type":"function_call","call_id":"c","name":"clock","arguments":"{}"},
		{"type":"function_call_output","call_id":"c","output":"noon"}]}`)
	for _, r := range model.Turns() {
		fmt.Printf("step %d of the turn, offered %v\n", r.TurnStep(), r.ToolNames())
	}
	// Output:
	// function_call clock {"zone":"UTC"}
	// message It is noon.
	// step 1 of the turn, offered [clock]
	// step 2 of the turn, offered []
}

// Conditions let one script serve any number of conversations at once.
func ExampleMatch() {
	model, err := modelserver.Start(&modelserver.Options{Script: []modelserver.Step{
		{
			When:  modelserver.Match{Offered: []string{"delete"}, TurnStep: 1},
			Reply: modelserver.Call("delete", nil), Times: modelserver.Always,
		},
		{Reply: modelserver.Say("I have no tool for that."), Times: modelserver.Always},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer model.Close()
	ask(model, `{"model":"fake-1","input":"Delete it."}`)
	ask(model, `{"model":"fake-1","input":"Delete it.","tools":[{"type":"function","name":"delete"}]}`)
	// Output:
	// message I have no tool for that.
	// function_call delete {}
}

func ask(model *modelserver.Server, body string) {
	response, err := http.Post(model.BaseURL()+"/responses", "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		fmt.Println(err)
		return
	}
	printOutput(answer)
}
