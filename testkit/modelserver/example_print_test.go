package modelserver_test

import (
	"fmt"

	"github.com/tidwall/gjson"
)

// printOutput prints the items of a Responses answer.
func printOutput(answer []byte) {
	for _, item := range gjson.GetBytes(answer, "output").Array() {
		if item.Get("type").Str == "function_call" {
			fmt.Println("function_call", item.Get("name"), item.Get("arguments"))
			continue
		}
		fmt.Println("message", item.Get("content.0.text"))
	}
}
