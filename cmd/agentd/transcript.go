package main

import (
	"fmt"
	"strings"
	"time"

	"agentd/cmd/internal/screen"
	"agentd/messages"
)

// transcript writes a session as Markdown. A tool's result stands below its call.
func transcript(doc *messages.Document) []byte {
	t := &transcriber{results: map[messages.CallID]*messages.Item{}}
	for i := range doc.Items {
		if item := doc.Items[i]; item.Type == messages.ItemToolResult {
			t.results[item.CallID] = item
		}
	}
	head := doc.Head
	fmt.Fprintf(&t.out, "# Session %s\n\n", head.ID)
	fmt.Fprintf(&t.out, "Agent %s, %s, %s, begun %s.\n", head.AgentID, count(head.TurnCount, "turn"), count(head.ItemCount, "item"),
		time.Unix(head.CreatedAt, 0).Format(time.DateTime))
	for i := range doc.Items {
		t.item(doc.Items[i])
	}
	if head.Turn != nil && head.Turn.Status.Terminal() && head.Turn.Status != messages.TurnCompleted {
		fmt.Fprintf(&t.out, "\n*The last turn was %s: %s*\n", head.Turn.Status, inline(head.Turn.Error))
	}
	return []byte(t.out.String())
}

type transcriber struct {
	out strings.Builder
	// results are the tool results that were not written yet.
	results map[messages.CallID]*messages.Item
}

func (t *transcriber) item(item *messages.Item) {
	switch item.Type {
	case messages.ItemMessage:
		fmt.Fprintf(&t.out, "\n## %s\n\n%s\n", title(string(item.Role)), strings.TrimSpace(screen.Clean(item.Content)))
	case messages.ItemReasoning:
		fmt.Fprintf(&t.out, "\n<details><summary>Reasoning</summary>\n%s\n</details>\n", fenced("text", item.Content))
	case messages.ItemToolCall:
		fmt.Fprintf(&t.out, "\n### Tool call `%s`\n%s", inline(item.Name), fenced("json", item.Arguments))
		if result := t.results[item.CallID]; result != nil {
			delete(t.results, item.CallID)
			t.result(result)
		}
	case messages.ItemToolResult:
		if t.results[item.CallID] == item { // Its call is not in the session.
			t.result(item)
		}
	case messages.ItemError:
		fmt.Fprintf(&t.out, "\n**Error:** %s\n", inline(item.Error))
	case messages.ItemEvent:
		b := (&textPrinter{}).eventBlock(item)
		fmt.Fprintf(&t.out, "\n*%s: %s*\n", title(b.label), inline(b.text))
	default:
		fmt.Fprintf(&t.out, "\n## %s\n\n%s\n", title(string(item.Type)), strings.TrimSpace(screen.Clean(item.Content)))
	}
}

func (t *transcriber) result(item *messages.Item) {
	word := "Result"
	if item.IsError {
		word = "Failed"
	}
	fmt.Fprintf(&t.out, "\n%s:\n%s", word, fenced("text", item.Output))
}

// fenced puts text between fences that are longer than any in it.
func fenced(language, text string) string {
	text = strings.TrimRight(screen.Clean(text), "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("\n%s%s\n%s\n%s\n", fence, language, text, fence)
}

// inline makes text harmless inside a line.
func inline(text string) string {
	return strings.NewReplacer("`", "'", "*", `\*`, "<", `\<`).Replace(screen.CleanLine(text))
}

func title(word string) string {
	word = screen.CleanLine(word)
	if word == "" {
		return "Unknown"
	}
	return strings.ToUpper(word[:1]) + word[1:]
}
