package local

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// command is one thing to do: call a tool, or one of the agent's own words.
type command struct {
	// text is the command as the person wrote it.
	text string
	// tool and arguments are set for a call.
	tool      string
	arguments json.RawMessage
	// done is the answer after a call that went well. Empty means the tool's own words.
	done string
	// say is an answer without a call.
	say string
	// pause is a wait.
	pause time.Duration
	// tools asks for the list of tools.
	tools bool
}

// misunderstanding is an error whose text is a sentence for the person: the agent's answer.
type misunderstanding string

// Error implements error.
func (m misunderstanding) Error() string { return string(m) }

func saying(format string, args ...any) error { return misunderstanding(fmt.Sprintf(format, args...)) }

// parse reads an input. The error is for the person; it names the command.
func parse(input string) ([]command, error) {
	var commands []command
	for line := range strings.Lines(input) {
		for _, text := range strings.Split(line, " then ") {
			text = strings.TrimSpace(text)
			if text == "" {
				continue
			}
			c, err := parseOne(text)
			if err != nil {
				return nil, err
			}
			c.text = text
			commands = append(commands, c)
		}
	}
	return commands, nil
}

// parseOne reads one command.
func parseOne(text string) (command, error) {
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	if parser, ok := words()[strings.ToLower(word)]; ok {
		return parser(rest)
	}
	return command{}, saying("I do not understand %.60q. Say \"help\" to see what I can do.", text)
}

type parseFunc func(rest string) (command, error)

// words maps the first word of a command to what reads the rest.
func words() map[string]parseFunc {
	return map[string]parseFunc{
		"draw":   parseDraw,
		"shapes": plain(toolShapes),
		"export": plain(toolExport),
		"list":   optional(toolList, "path"),
		"read":   required(toolRead, "path", "read FILE"),
		"search": required(toolSearch, "pattern", "search TEXT"),
		"delete": required(toolDelete, "path", "delete FILE"),
		"run":    required(toolRun, "command", "run COMMAND"),
		"write":  parseWrite,
		"call":   parseCall,
		"tools":  func(string) (command, error) { return command{tools: true}, nil },
		"say":    parseSay,
		"wait":   parseWait,
		"help":   func(string) (command, error) { return command{say: help}, nil },
	}
}

// plain is a tool without arguments.
func plain(tool string) parseFunc {
	return func(rest string) (command, error) {
		if rest != "" {
			return command{}, saying("I do not understand %.60q behind the command.", rest)
		}
		return call(tool, nil)
	}
}

// optional is a tool with one argument that may be left out.
func optional(tool, key string) parseFunc {
	return func(rest string) (command, error) {
		if rest == "" {
			return call(tool, nil)
		}
		return call(tool, map[string]any{key: rest})
	}
}

// required is a tool with one argument.
func required(tool, key, usage string) parseFunc {
	return func(rest string) (command, error) {
		if rest == "" {
			return command{}, saying("Something is missing: say %q.", usage)
		}
		return call(tool, map[string]any{key: rest})
	}
}

func parseWrite(rest string) (command, error) {
	path, text, found := strings.Cut(rest, " ")
	if !found || path == "" {
		return command{}, saying("Something is missing: say %q.", "write FILE TEXT")
	}
	return call(toolWrite, map[string]any{"path": path, "content": text + "\n"})
}

func parseCall(rest string) (command, error) {
	tool, arguments, _ := strings.Cut(rest, " ")
	if tool == "" {
		return command{}, saying("Something is missing: say %q.", "call TOOL JSON")
	}
	return command{tool: tool, arguments: json.RawMessage(strings.TrimSpace(arguments))}, nil
}

func parseSay(rest string) (command, error) {
	if rest == "" {
		return command{}, saying("Something is missing: say %q.", "say TEXT")
	}
	return command{say: rest}, nil
}

// maxPause is the longest wait.
const maxPause = time.Hour

func parseWait(rest string) (command, error) {
	pause, err := time.ParseDuration(rest)
	if err != nil || pause < 0 || pause > maxPause {
		return command{}, saying("I cannot wait %.40q: say %q, at most %v.", rest, "wait 10s", maxPause)
	}
	return command{pause: pause}, nil
}

func call(tool string, arguments map[string]any) (command, error) {
	if arguments == nil {
		return command{tool: tool, arguments: json.RawMessage("{}")}, nil
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return command{}, fmt.Errorf("encoding the arguments of %s: %w", tool, err)
	}
	return command{tool: tool, arguments: text}, nil
}
