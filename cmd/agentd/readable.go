package main

import (
	"strings"

	"github.com/tidwall/gjson"

	"agentd/cmd/internal/screen"
)

// readable lays out what a tool answered for a person. In a JSON object, texts of several lines, such as a file or the output of a command, are taken out
// and stand below it as lines. What the tool surface itself says about approvals comes down to the words that count.
func readable(output string) string {
	if !gjson.Valid(output) {
		return screen.Clean(output)
	}
	object := gjson.Parse(output)
	if !object.IsObject() {
		return screen.Clean(output)
	}
	if status := object.Get("status").String(); status != "" && object.Get("args_hash").Exists() {
		said := strings.ReplaceAll(status, "_", " ")
		if message := object.Get("message").String(); message != "" { // A person may deny without a reason.
			said += ": " + message
		}
		return screen.CleanLine(said)
	}
	var fields, texts []string
	object.ForEach(func(key, value gjson.Result) bool {
		text := strings.TrimRight(value.String(), "\n")
		if value.Type != gjson.String || !strings.Contains(value.String(), "\n") {
			fields = append(fields, key.Raw+":"+value.Raw)
			return true
		}
		texts = append(texts, screen.CleanLine(key.String())+":\n"+screen.Clean(text))
		return true
	})
	if len(texts) == 0 {
		return screen.Clean(output)
	}
	return screen.CleanLine("{"+strings.Join(fields, ",")+"}") + "\n" + strings.Join(texts, "\n")
}
