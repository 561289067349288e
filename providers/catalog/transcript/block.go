package transcript

import "agentd/providers/catalog/bounded"

// Block is a block of a message's content, under the names that the stores have for its parts. Values point into what it
// was decoded from.
type Block struct {
	// Kind is its type.
	Kind bounded.Value
	// Text is what it says.
	Text bounded.Value
	// Name is the tool that it is about.
	Name bounded.Value
	// Input is what the tool was asked.
	Input bounded.Value
	// Result is what the tool answered.
	Result bounded.Value
}

// Decode picks the members of a block.
func Decode(block bounded.Value) Block {
	var b Block
	for key, v := range bounded.Fields(block.Raw) {
		switch string(key) {
		case "type":
			b.Kind = v
		case "text":
			b.Text = v
		case "name", "toolName":
			b.Name = v
		case "input", "args", "arguments":
			b.Input = v
		case "result", "output", "content":
			b.Result = v
		}
	}
	return b
}
