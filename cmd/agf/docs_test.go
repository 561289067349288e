package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
)

func page(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestClientExamples holds that the configurations on docs/clients.md can be read, and start a server that there is.
func TestClientExamples(t *testing.T) {
	t.Parallel()
	blocks := regexp.MustCompile("(?s)```(json|toml)\n(.*?)```").FindAllStringSubmatch(page(t, "docs", "clients.md"), -1)
	if len(blocks) != 5 {
		t.Errorf("there are %d configurations, want one for each of 5 clients", len(blocks))
	}
	for _, block := range blocks {
		var v map[string]any
		err := json.Unmarshal([]byte(block[2]), &v)
		if block[1] == "toml" {
			_, err = toml.Decode(block[2], &v)
		}
		if err != nil {
			t.Errorf("%s\n%v", block[2], err)
			continue
		}
		for _, key := range []string{"mcpServers", "mcp_servers", "mcp"} {
			servers, ok := v[key].(map[string]any)
			if !ok {
				continue
			}
			entry, _ := servers["agf"].(map[string]any)
			args, ok := entry["args"].([]any)
			if !ok {
				list, _ := entry["command"].([]any)
				args = list[min(1, len(list)):]
			}
			words := make([]string, len(args))
			for i, arg := range args {
				words[i], _ = arg.(string)
			}
			checkCommand(t, words)
		}
	}
}

// checkCommand fails the test if agf has no such command or flag.
func checkCommand(t *testing.T, words []string) {
	t.Helper()
	root := newRoot(&program{getenv: func(string) string { return "" }})
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root {
		t.Errorf("agf %q: there is no such command: %v", words, err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("agf %q: %v", words, err)
	}
}

// TestPagesNameWhatExists holds that every command on the skill's page and on the clients' page exists, with its flags.
func TestPagesNameWhatExists(t *testing.T) {
	t.Parallel()
	for _, text := range []string{page(t, "skills", "agf", "SKILL.md"), page(t, "docs", "clients.md")} {
		var lines []string
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
			lines = append(lines, strings.Split(strings.TrimSpace(block[1]), "\n")...)
		}
		for _, inline := range regexp.MustCompile("`(agf [a-z][^`]*)`").FindAllStringSubmatch(text, -1) {
			lines = append(lines, inline[1])
		}
		for _, line := range lines {
			if _, rest, ok := strings.Cut(line, "agf mcp"); ok { // The server in another program's command line.
				line = "agf mcp" + rest
			}
			words := strings.Fields(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(line, "text"))
			checkCommand(t, words[1:])
		}
	}
}

// TestSkillHeader holds that the skill begins as clients want it.
func TestSkillHeader(t *testing.T) {
	t.Parallel()
	lines := strings.SplitN(page(t, "skills", "agf", "SKILL.md"), "\n", 5)
	if lines[0] != "---" || lines[1] != "name: agf" || !strings.HasPrefix(lines[2], "description: ") || lines[3] != "---" {
		t.Errorf("the skill begins with %q", lines[:4])
	}
	if n := len(lines[2]); n > 1024 {
		t.Errorf("the description has %d bytes, want at most 1024", n)
	}
}

// TestEveryCommandHasHelp holds that each command tells what it is for, and each flag what it does.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Long == "" {
			t.Errorf("%q has no help", cmd.CommandPath())
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(newRoot(&program{getenv: func(string) string { return "" }}))
}
