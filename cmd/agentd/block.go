package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agentd/actors/agents/space"
	"agentd/cmd/internal/screen"
	"agentd/messages"
	"agentd/presets"
)

// What an item of type event reports, as the sessions spell it.
const (
	approvalRequested = "approval-requested"
	approvalDecided   = "approval-decided"
)

const (
	// labelColumns is the width of the column of labels.
	labelColumns = 13
	// cutRows is how many rows of a tool's arguments and results a terminal shows.
	cutRows = 6
	// leastTextColumns is what a text gets at least, on however narrow a terminal.
	leastTextColumns = 20
)

// block is one labelled piece of output. Its text is clean.
type block struct {
	label, text       string
	labelStyle, style func(string) string
	// cut lets a terminal leave rows out.
	cut bool
	// whole keeps a row from being broken, so that a path can be picked up with the mouse.
	whole bool
}

// rows lays a block out for a terminal of that many columns; 0 is no terminal.
func (p *textPrinter) rows(b block, columns int) []string {
	width := 0
	if columns > 0 && !b.whole {
		width = max(columns-labelColumns, leastTextColumns)
	}
	rows := screen.Wrap(strings.TrimRight(b.text, "\n"), width)
	left := 0
	if b.cut && !p.full && columns > 0 && len(rows) > cutRows {
		left = len(rows) - (cutRows - 1)
		rows = rows[:cutRows-1]
	}
	out := make([]string, 0, len(rows)+1)
	for i, row := range rows {
		label := ""
		if i == 0 {
			label = b.label
		}
		if b.style != nil {
			row = b.style(row)
		}
		out = append(out, strings.TrimRight(p.label(label, b.labelStyle)+row, " "))
	}
	if left > 0 {
		out = append(out, p.label("", nil)+p.styles.Dim(fmt.Sprintf("… and %s; agentd sessions show --full has all", count(left, "more line"))))
	}
	return out
}

func (p *textPrinter) label(label string, style func(string) string) string {
	padding := strings.Repeat(" ", max(labelColumns-screen.Width(label), 1))
	if style != nil {
		label = style(label)
	}
	return label + padding
}

// blockOf says how an item is shown, or false if it is not.
func (p *textPrinter) blockOf(item *messages.Item) (block, bool) {
	s := p.styles
	switch item.Type {
	case messages.ItemMessage:
		return p.messageBlock(item)
	case messages.ItemReasoning:
		return block{label: "reasoning", text: screen.Clean(item.Content), labelStyle: s.Dim, style: s.Dim}, item.Content != ""
	case messages.ItemToolCall:
		text := screen.CleanLine(item.Name)
		if item.Arguments != "" {
			text += " " + screen.CleanLine(item.Arguments)
		}
		return block{label: "tool-call", text: text, labelStyle: s.Tool, cut: true}, true
	case messages.ItemToolResult:
		b := block{label: "tool-result", text: screen.Clean(item.Output), labelStyle: s.Tool, style: s.Dim, cut: true}
		if !p.full && p.isTerminal() {
			b.text = readable(item.Output)
		}
		if item.IsError {
			b.labelStyle = s.Fail
		}
		return b, true
	case messages.ItemError:
		return block{label: "error", text: screen.Clean(item.Error), labelStyle: s.Fail}, true
	case messages.ItemEvent:
		return p.eventBlock(item), true
	default:
		return block{label: screen.CleanLine(string(item.Type)), text: screen.Clean(item.Content), labelStyle: s.Dim}, true
	}
}

func (p *textPrinter) messageBlock(item *messages.Item) (block, bool) {
	b := block{label: screen.CleanLine(string(item.Role)), text: screen.Clean(item.Content), labelStyle: p.styles.Agent}
	if item.Role == messages.RoleUser {
		b.labelStyle = p.styles.User
		return b, !p.hideUser
	}
	return b, item.Content != "" // A model that only called tools ends without a word; the item has the usage.
}

func (p *textPrinter) eventBlock(item *messages.Item) block {
	switch item.EventType {
	case approvalRequested:
		var request presets.Request
		if json.Unmarshal(item.Data, &request) == nil {
			return block{label: "approval", text: requestText(request), labelStyle: p.styles.Warn}
		}
	case approvalDecided:
		var decision presets.Decision
		if json.Unmarshal(item.Data, &decision) == nil {
			return block{label: "approval", text: decisionText(decision), labelStyle: p.styles.Warn, style: p.styles.Dim}
		}
	case space.EventRetry:
		var retry space.Retry
		if json.Unmarshal(item.Data, &retry) == nil {
			return block{label: "retry", text: retryText(retry, cmp.Or(item.UpdatedAt, item.CreatedAt)), labelStyle: p.styles.Warn, style: p.styles.Dim}
		}
	case space.EventReplaced:
		text := "OpenCode had lost its session; this is a new one, and the model does not know what was said before"
		return block{label: "notice", text: text, labelStyle: p.styles.Warn, style: p.styles.Dim}
	}
	text := screen.CleanLine(item.EventType)
	if len(item.Data) > 0 {
		text += " " + screen.CleanLine(string(item.Data))
	}
	return block{label: "event", text: text, labelStyle: p.styles.Dim, style: p.styles.Dim, cut: true}
}

// maxRetryColumns bounds what is shown of a model provider's message.
const maxRetryColumns = 200

// retryText says that a model call failed and will be tried again. Told is when that was said, in Unix seconds: what is shown later says the same.
func retryText(retry space.Retry, told int64) string {
	when := "at once"
	if wait := retry.NextAt - told; told > 0 && wait > 0 {
		when = "in " + shortDuration(time.Duration(min(wait, maxRetrySeconds))*time.Second)
	}
	message := screen.Truncate(screen.CleanLine(retry.Message), maxRetryColumns)
	return fmt.Sprintf("%s; attempt %d %s", cmp.Or(message, "the model call failed"), retry.Attempt, when)
}

// maxRetrySeconds keeps a time that OpenCode made up from running over.
const maxRetrySeconds = 365 * 24 * 60 * 60

// requestText is what a person has to know to decide.
func requestText(request presets.Request) string {
	lines := []string{fmt.Sprintf("%s wants %s", screen.CleanLine(request.Name), request.Risk)}
	if request.Reason != "" {
		lines = append(lines, "reason:    "+screen.CleanLine(request.Reason))
	}
	return strings.Join(append(lines, "arguments: "+screen.CleanLine(request.Preview)), "\n")
}

// decisionText is how it was decided.
func decisionText(decision presets.Decision) string {
	text := fmt.Sprintf("%s: %s", screen.CleanLine(decision.Name), decision.Outcome)
	switch decision.Via {
	case presets.ViaOnce, presets.ViaAlways:
		text += fmt.Sprintf(" %s by %s", decision.Via, screen.CleanLine(decision.Who))
	case presets.ViaGrant:
		text += fmt.Sprintf(" by the standing approval %s", screen.CleanLine(string(decision.GrantID)))
	case presets.ViaPerson:
		text += " by " + screen.CleanLine(decision.Who)
	case presets.ViaNormal, presets.ViaPolicy, presets.ViaSystem:
		text += fmt.Sprintf(" by the %s", decision.Via)
	}
	if decision.Reason != "" {
		text += ": " + screen.CleanLine(decision.Reason)
	}
	return text
}
