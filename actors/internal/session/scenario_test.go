package session

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"agentd/messages"
)

// TestScenarios plays the files of testdata: commands in, effects and a state line out. UPDATE_GOLDEN=1 rewrites them; then read what
// changed, since it must be what docs/session_states.md says.
func TestScenarios(t *testing.T) { //nolint:paralleltest // The rewrite flag is the whole process's.
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := flag.Set("rewrite", "true"); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob(testdata) = %v, %v, want files", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := &scenario{}
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string { return s.play(t, d) })
		})
	}
}

// TestEveryRuleHasItsScenario keeps the rules of docs/session_states.md and the files together.
func TestEveryRuleHasItsScenario(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/session_states.md")
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, match := range regexp.MustCompile("(?m)^([0-9]+)\\. .*\\(`([a-z_]+)`\\)$").FindAllStringSubmatch(string(text), -1) {
		rules = append(rules, fmt.Sprintf("%02s_%s.txt", match[1], match[2]))
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	for _, rule := range rules {
		if !slices.Contains(files, rule) {
			t.Errorf("rule without a scenario: %s", rule)
		}
	}
	for _, file := range files {
		if !slices.Contains(rules, file) {
			t.Errorf("scenario without a rule: %s", file)
		}
	}
	if numbered := regexp.MustCompile(`(?m)^[0-9]+\. `).FindAllString(string(text), -1); len(numbered) != len(rules) {
		t.Errorf("%d of %d rules name a scenario", len(rules), len(numbered))
	}
}

// scenario is a session as a file plays it.
type scenario struct {
	state   *State
	now     int64
	epoch   uint64
	journal []messages.Record
	under   Commit
	kept    bool // The commit under way is in the journal already.
	out     strings.Builder
}

func (s *scenario) play(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.now++
	s.out.Reset()
	switch d.Cmd {
	case "history":
		s.history(t)
		return s.out.String()
	case "drafts":
		for _, item := range s.state.Drafts() {
			fmt.Fprintf(&s.out, "%s\n", itemText(&item))
		}
		return s.out.String()
	case "turn":
		turn, ok := activeTurn(s.state)
		return fmt.Sprintf("%s %s active=%v\n", turn.ID, turn.Status, ok)
	}
	s.perform(t, s.step(t, d))
	if err := s.state.Check(); err != nil {
		t.Errorf("%s: Check() = %v", d.Pos, err)
	}
	if s.out.Len() == 0 {
		s.out.WriteString("nothing\n")
	}
	s.line()
	return s.out.String()
}

// step gives the state what the command says.
func (s *scenario) step(t *testing.T, d *datadriven.TestData) []Effect {
	t.Helper()
	switch d.Cmd {
	case "create":
		var effects []Effect
		s.now, s.epoch, s.journal = 100, 1, nil
		s.state, effects = Create("s1", messages.Created{AgentID: "a1", Epoch: 1}, "create", s.now, Limits{Queue: 3})
		return effects
	case "restore":
		var effects []Effect
		s.epoch++
		s.state, effects = Restore(s.replayed(t), s.epoch, s.now, Limits{Queue: 3})
		return effects
	case "watch":
		s.state.Watch(true)
		return nil
	case "stored", "refused", "unsure", "fenced":
		return s.state.Step(s.now, s.outcome(t, d))
	}
	msg := s.message(t, d)
	if msg == nil {
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
	return s.state.Step(s.now, msg)
}

// outcome tells how the commit under way went. It is kept if it was stored, whatever is told.
func (s *scenario) outcome(t *testing.T, d *datadriven.TestData) Message {
	t.Helper()
	if len(s.state.flight) == 0 {
		d.Fatalf(t, "no commit is under way")
	}
	if (d.Cmd == "stored" || d.HasArg("kept")) && !s.kept {
		s.kept = true
		for i, change := range s.under.Changes {
			rec, err := messages.EncodeChange(s.under.After+uint64(i)+1, s.under.At, change)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			s.journal = append(s.journal, rec)
		}
	}
	c := Committed{ID: s.under.ID, Dead: d.Cmd == "fenced", Unknown: d.Cmd == "unsure"}
	if d.Cmd != "stored" {
		c.Err = errors.New(arg(d, "error", "disk full"))
	}
	return c
}

// message makes the message of a command. Its name stands for whoever waits.
func (s *scenario) message(t *testing.T, d *datadriven.TestData) Message {
	t.Helper()
	ticket := strings.TrimSpace(d.Cmd + " " + positional(d))
	first := messages.TurnID(positional(d))
	turn := messages.TurnID(arg(d, "turn", "t1"))
	switch d.Cmd {
	case "prompt":
		return Prompt{
			Ticket: ticket, Turn: first, Item: messages.ItemID(arg(d, "item", "u-"+string(first))),
			Input: arg(d, "input", "do "+string(first)), OnBusy: messages.OnBusy(arg(d, "busy", "")),
		}
	case "withdraw":
		return Withdraw{Turn: first}
	case "cancel":
		return Cancel{Ticket: ticket, Turn: first, Reason: arg(d, "reason", "")}
	case "append":
		return Append{Ticket: ticket, Turn: turn, Item: itemOf(t, d.CmdArgs)}
	case "upsert":
		return Upsert{Ticket: ticket, Turn: turn, Item: itemOf(t, d.CmdArgs), MustExist: d.HasArg("must-exist")}
	case "record":
		return Record{Ticket: ticket, Turn: turn, Items: itemsOf(t, d.Input), Fresh: d.HasArg("fresh")}
	case "set":
		m := SetData{Ticket: ticket, Turn: messages.TurnID(arg(d, "turn", "")), Key: string(first)}
		if value := arg(d, "value", ""); value != "" {
			m.Value = json.RawMessage(value)
		}
		return m
	case "finish":
		return Finish{Ticket: ticket, Turn: first, Result: arg(d, "result", ""), Items: itemsOf(t, d.Input)}
	case "fail":
		return Fail{Ticket: ticket, Turn: first, Error: arg(d, "error", "")}
	case "stopped":
		return TurnStopped{Turn: first, HookError: arg(d, "hook", ""), Abandoned: d.HasArg("abandoned")}
	case "tick":
		return Tick{}
	case "delete":
		return Delete{Ticket: ticket}
	case "drain":
		return Drain{Ticket: ticket, Force: d.HasArg("force")}
	default:
		return nil
	}
}

func positional(d *datadriven.TestData) string {
	if len(d.CmdArgs) > 0 && len(d.CmdArgs[0].Vals) == 0 {
		return d.CmdArgs[0].Key
	}
	return ""
}

func arg(d *datadriven.TestData, key, otherwise string) string {
	if a, ok := d.Arg(key); ok && len(a.Vals) > 0 {
		return strings.Join(a.Vals, ", ")
	}
	return otherwise
}

func itemsOf(t *testing.T, input string) []messages.Item {
	t.Helper()
	var items []messages.Item
	for line := range strings.Lines(input) {
		cmd, args, err := datadriven.ParseLine(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, itemOf(t, append([]datadriven.CmdArg{{Key: cmd}}, args...)))
	}
	return items
}

// itemOf makes an item: its id first, then its fields.
func itemOf(t *testing.T, args []datadriven.CmdArg) messages.Item {
	t.Helper()
	item := messages.Item{ID: messages.ItemID(strings.Trim(args[0].Key, "-"))} // A dash stands for no id.
	for _, a := range args[1:] {
		value := strings.Join(a.Vals, ", ")
		switch a.Key {
		case "type":
			item.Type = messages.ItemType(value)
		case "role":
			item.Role = messages.Role(value)
		case "text":
			item.Content = value
		case "call":
			item.CallID = messages.CallID(value)
		case "status":
			item.Status = messages.CallStatus(value)
		case "output":
			item.Output = value
		case "failed":
			item.IsError = true
		case "draft":
			item.StreamStatus = messages.StreamStreaming
		case "event":
			item.Type, item.EventType = messages.ItemEvent, value
		case "data":
			item.Data = json.RawMessage(value)
		case "belongs-to":
			item.TurnID = messages.TurnID(value)
		case "turn", "must-exist", "item":
		default:
			t.Fatalf("unknown field %q", a.Key)
		}
	}
	return item
}

func (s *scenario) replayed(t *testing.T) *messages.Document {
	t.Helper()
	doc := messages.NewDocument("s1")
	for _, rec := range s.journal {
		change, err := messages.DecodeRecord(rec)
		if err == nil {
			err = doc.Apply(rec.Seq, rec.At, change)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return doc
}

// history prints what is stored.
func (s *scenario) history(t *testing.T) {
	t.Helper()
	doc := s.replayed(t)
	if doc.Head.Turn != nil {
		fmt.Fprintf(&s.out, "%s, last turn %s\n", doc.Head.Status, turnText(*doc.Head.Turn))
	}
	for _, key := range []string{"k", "h"} {
		if value, ok := doc.Head.Data[key]; ok {
			fmt.Fprintf(&s.out, "data %s=%s\n", key, value)
		}
	}
	for i := range doc.Items {
		fmt.Fprintf(&s.out, "%s of %s\n", itemText(doc.Items[i]), doc.Items[i].TurnID)
	}
}
