package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"agentd/actors/agents/space"
	"agentd/cmd/internal/screen"
	"agentd/messages"
)

// textPrinter shows a session to a person: labelled items, one under the other. In a terminal they are wrapped, coloured and cut, and a draft is
// redrawn in its place; elsewhere they are plain and whole, and only what is final is printed.
type textPrinter struct {
	out    io.Writer
	styles screen.Styles
	// size returns the columns and rows of the terminal, or 0 columns if it is none.
	size func() (columns, rows int)
	// full prints long results whole, also in a terminal.
	full bool
	// hideUser leaves out the person's own words, which stand on the screen already.
	hideUser bool

	// shown are the items that were printed for good.
	shown map[messages.ItemID]bool
	// drawn is what the region shows of drafts, by item, so that a final text is not printed twice.
	drawn  map[messages.ItemID]string
	region *screen.Region
	// live is the item in the region, columns the width that it was drawn for.
	live    messages.ItemID
	columns int
}

var _ printer = (*textPrinter)(nil)

func (a *app) newTextPrinter() *textPrinter {
	return &textPrinter{
		out: a.stdout, styles: a.styles(), size: a.size, region: screen.NewRegion(a.stdout),
		shown: map[messages.ItemID]bool{}, drawn: map[messages.ItemID]string{},
	}
}

// isTerminal reports whether it prints to a terminal.
func (p *textPrinter) isTerminal() bool {
	columns, _ := p.size()
	return columns > 0
}

// session implements [printer].
func (p *textPrinter) session(head messages.Head, fresh bool) error {
	text := fmt.Sprintf("%s goes on (agent %s, %s)", head.ID, head.AgentID, count(head.ItemCount, "item"))
	if fresh {
		text = fmt.Sprintf("%s is new (agent %s)", head.ID, head.AgentID)
	}
	return p.print(block{label: "session", text: text, style: p.styles.Dim, labelStyle: p.styles.Dim})
}

// event implements [printer].
func (p *textPrinter) event(event messages.Event) error {
	switch event.Kind {
	case messages.EventItem, messages.EventItemUpdated, messages.EventDraft:
		if event.Item.IsDraft() {
			return p.draft(event.Item)
		}
		return p.item(event.Item)
	case messages.EventTurnCancelling:
		return p.cancelling()
	case messages.EventDeleted:
		return p.print(block{label: "deleted", labelStyle: p.styles.Warn, text: "the session is gone"})
	case messages.EventTurnStarted, messages.EventTurnEnded, messages.EventData:
		return nil
	default:
		return nil
	}
}

// cancelling says that the agent is being stopped. In a terminal it goes over the ^C that the key left.
func (p *textPrinter) cancelling() error {
	b := block{label: "cancelling", style: p.styles.Dim, labelStyle: p.styles.Warn, text: "waiting for the agent to stop"}
	if p.isTerminal() {
		p.pause()
		b.text += "; Ctrl-C again quits at once"
		if _, err := io.WriteString(p.out, "\r"); err != nil {
			return err
		}
	}
	return p.print(b)
}

// pause implements [printer].
func (p *textPrinter) pause() {
	p.region.Commit()
	p.live = ""
}

// draft shows a text that still grows, if it can be redrawn. While another draft stands below it, it waits for its final text.
func (p *textPrinter) draft(item *messages.Item) error {
	columns, rows := p.size()
	if columns == 0 || p.shown[item.ID] {
		return nil
	}
	if p.live != item.ID || p.columns != columns {
		if _, earlier := p.drawn[item.ID]; earlier && p.live != item.ID {
			return nil
		}
		p.pause()
		p.live, p.columns = item.ID, columns
	}
	b, ok := p.blockOf(item)
	if !ok {
		return nil
	}
	p.drawn[item.ID] = b.text
	p.region.Resize(rows)
	_, err := p.region.Update(p.rows(b, columns))
	return err
}

// item prints what is final. An item that is already there is not printed again when its state changes.
func (p *textPrinter) item(item *messages.Item) error {
	id := printedAs(item)
	if p.shown[id] {
		return nil
	}
	b, ok := p.blockOf(item)
	if !ok {
		return nil
	}
	p.shown[id] = true
	was, drawn := p.drawn[item.ID]
	delete(p.drawn, item.ID)
	if p.live == item.ID && p.live != "" {
		columns, rows := p.size()
		p.region.Resize(rows)
		if columns == p.columns {
			whole, err := p.region.Update(p.rows(b, columns))
			p.pause()
			if err != nil || whole {
				return err
			}
		}
		return p.print(b)
	}
	if drawn && was == b.text {
		return nil
	}
	return p.print(b)
}

// printedAs is under what an item counts as printed. A retry is one item that changes with each attempt, and each is worth a line.
func printedAs(item *messages.Item) messages.ItemID {
	if item.Type == messages.ItemEvent && item.EventType == space.EventRetry {
		return item.ID + messages.ItemID(item.Data)
	}
	return item.ID
}

// print writes a block for good.
func (p *textPrinter) print(b block) error {
	p.pause()
	columns, _ := p.size()
	_, err := io.WriteString(p.out, strings.Join(p.rows(b, columns), "\n")+"\n")
	return err
}

// result implements [printer].
func (p *textPrinter) result(o outcome) error {
	if err := p.print(p.endBlock(o.turn, "after "+shortDuration(o.took))); err != nil {
		return err
	}
	if err := p.print(block{label: "session file", text: o.sessionFile, style: p.styles.Dim, labelStyle: p.styles.Dim, whole: true}); err != nil {
		return err
	}
	for _, path := range o.artifacts {
		label := "artifact"
		if filepath.Ext(path) == ".svg" {
			label = "drawing"
		}
		if err := p.print(block{label: label, text: screen.CleanLine(path), style: p.styles.Dim, labelStyle: p.styles.Dim, whole: true}); err != nil {
			return err
		}
	}
	return nil
}

// endBlock says how a turn ended.
func (p *textPrinter) endBlock(turn messages.Turn, when string) block {
	b := block{label: string(turn.Status), text: when, style: p.styles.Dim, labelStyle: p.styles.Agent}
	switch turn.Status {
	case messages.TurnFailed:
		b.labelStyle = p.styles.Fail
	case messages.TurnCancelled, messages.TurnInterrupted:
		b.labelStyle = p.styles.Warn
	case messages.TurnCompleted, messages.TurnRunning, messages.TurnCancelling:
	}
	return b
}

// shortDuration is a duration as people say it.
func shortDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// headBlock says which session it is.
func (p *textPrinter) headBlock(head messages.Head) block {
	text := fmt.Sprintf("%s (agent %s, %s, %s, changed %s)", head.ID, head.AgentID, count(head.TurnCount, "turn"), count(head.ItemCount, "item"),
		time.Unix(head.UpdatedAt, 0).Format(time.DateTime))
	return block{label: "session", text: screen.CleanLine(text), style: p.styles.Dim, labelStyle: p.styles.Dim}
}

// ended prints how a turn ended, or that it runs.
func (p *textPrinter) ended(turn messages.Turn) error {
	when := "since " + time.Unix(turn.StartedAt, 0).Format(time.DateTime)
	switch {
	case turn.Status.Terminal() && turn.EndedAt == 0: // Its process was killed, and none has opened the session since.
		when = "begun " + time.Unix(turn.StartedAt, 0).Format(time.DateTime)
	case turn.Status.Terminal():
		when = time.Unix(turn.EndedAt, 0).Format(time.DateTime)
	}
	return p.print(p.endBlock(turn, when))
}
