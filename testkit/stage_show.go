package testkit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"agentd/actors"
	"agentd/messages"
)

// The commands of scenarios that show something. Ids that are random are not shown.

func (s *stage) turn(words []string, _ string) []string {
	view, err := s.runtime.Session(s.runtime.Context(), messages.SessionID(words[0]))
	switch {
	case err != nil:
		return outcome(err)
	case view.Head.Turn == nil:
		return []string{fmt.Sprintf("%s, no turn", view.Head.Status)}
	default:
		return []string{fmt.Sprintf("%s, %s %s", view.Head.Status, view.Head.Turn.ID, describeTurn(*view.Head.Turn))}
	}
}

func (s *stage) items(words []string, _ string) []string {
	view, err := s.runtime.Session(s.runtime.Context(), messages.SessionID(words[0]))
	if err != nil {
		return outcome(err)
	}
	var lines []string
	for i := range view.Items {
		lines = append(lines, fmt.Sprintf("%s %s", view.Items[i].TurnID, showItem(view.Items[i])))
	}
	return lines
}

// showItem shows what an item says.
func showItem(item *messages.Item) string {
	parts := []string{string(item.Type)}
	for _, word := range []string{string(item.Role), item.Name, item.EventType, string(item.Status), string(item.StreamStatus)} {
		if word != "" {
			parts = append(parts, word)
		}
	}
	for _, text := range []string{item.Content, item.Arguments, item.Output, item.Error} {
		if text != "" {
			parts = append(parts, strconv.Quote(text))
		}
	}
	return strings.Join(parts, " ")
}

func (s *stage) data(words []string, _ string) []string {
	view, err := s.runtime.Session(s.runtime.Context(), messages.SessionID(words[0]))
	if err != nil {
		return outcome(err)
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(view.Head.Data)) {
		lines = append(lines, fmt.Sprintf("%s = %s", key, view.Head.Data[key]))
	}
	return lines
}

func (s *stage) list([]string, string) []string {
	listing, err := s.runtime.ListSessions(s.runtime.Context())
	if err != nil {
		return outcome(err)
	}
	var lines []string
	for _, head := range listing.Sessions {
		lines = append(lines, fmt.Sprintf("%s %s, %d items", head.ID, head.Status, head.ItemCount))
	}
	for _, bad := range listing.Bad {
		lines = append(lines, fmt.Sprintf("%s bad: %v", bad.ID, bad.Err))
	}
	return lines
}

func (s *stage) pending([]string, string) []string {
	open, err := s.runtime.Approvals().Pending(s.runtime.Context())
	if err != nil {
		return outcome(err)
	}
	var lines []string
	for _, request := range open {
		lines = append(lines, fmt.Sprintf("%s %s %s, %d waiting", request.SessionID, request.Name, request.Preview, request.Waiting))
	}
	return lines
}

func (s *stage) watch(words []string, _ string) []string {
	var opts actors.SubscribeOptions
	if len(words) > 2 {
		after, err := strconv.ParseUint(words[2], 10, 64)
		if err != nil {
			return outcome(err)
		}
		opts.After = after
	}
	sub, err := s.runtime.Subscribe(s.runtime.Context(), messages.SessionID(words[1]), opts)
	if err != nil {
		return outcome(err)
	}
	s.t.Cleanup(sub.Close)
	s.subs[words[0]] = sub
	return nil
}

// events shows what a subscription was told since it was last asked.
func (s *stage) events(words []string, _ string) []string {
	sub := s.subs[words[0]]
	if sub == nil {
		return []string{"there is no such subscription"}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // What is there is given all the same.
	var lines []string
	for {
		event, err := sub.Next(ctx)
		switch {
		case err != nil && ctx.Err() != nil && strings.Contains(err.Error(), context.Canceled.Error()):
			return lines
		case err != nil:
			return append(lines, "end: "+err.Error())
		}
		lines = append(lines, showEvent(event))
	}
}

func showEvent(event messages.Event) string {
	text := fmt.Sprintf("%d %s", event.Seq, event.Kind)
	switch {
	case event.Item != nil:
		text += ": " + showItem(event.Item)
	case event.Turn != nil:
		text += fmt.Sprintf(": %s %s", event.Turn.ID, describeTurn(*event.Turn))
	case event.Key != "":
		text += ": " + event.Key
	}
	return text
}
