package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// scenarioRule separates a command of a scenario from what it is expected to print.
const scenarioRule = "----"

// RunScenarios plays every file of a folder whose name ends in .txt, each in a bubble of testing/synctest with a runtime of its own.
//
// A scenario is a list of blocks: comment lines that begin with #, a command line, a line of four dashes, and what the command prints, up to an empty
// line. After each command everything that can happen at that moment has happened; time stands still but for "advance".
// With [UpdateEnv] set to 1 what was printed is written into the file. The commands are:
//
//	script INPUT: STEP; STEP; ...   what the agent does for an input; see below
//	session ID                      make a session
//	run ID INPUT [cancel|queue|reject]   ask for a turn; turns are called t1, t2, ...
//	cancel ID                       cancel the active turn
//	open GATE                       let scripts go on that wait there
//	advance DURATION                let time pass
//	turn ID · items ID · data ID · list · pending   show something
//	set ID KEY VALUE                set data as the host does
//	watch NAME ID [AFTER]           subscribe; events are shown by "events NAME"
//	decide VERB                     decide the oldest open approval: approve-once, approve-always or deny
//	delete ID · flush · stop
//	fail OP N FAULT                 make the nth call from now on fail, by the names of [Faults]; "heal" takes it back
//	crash                           kill the runtime; "restart" starts the next one on what is stored
//
// The steps of a script are: say TEXT, draft ID TEXT, final ID TEXT, open-call ID NAME, call NAME [JSON], data KEY VALUE, gate NAME (obeys the cancel), hang NAME (does not),
// cancelled (waits for it), hook [ERROR], finish [TEXT], fail TEXT, error TEXT, panic TEXT. There are two tools, which answer with their arguments:
// space_echo, which is harmless, and space_danger, which needs an approval.
func RunScenarios(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario in %s: %v", dir, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := parseScenario(string(text))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				for i := range blocks {
					blocks[i].output = s.play(blocks[i])
				}
			})
			Golden(t, file, []byte(formatScenario(blocks)))
		})
	}
}

// block is one command of a scenario.
type block struct {
	// comments are the lines in front of the command, empty ones included.
	comments []string
	command  string
	output   string
	line     int
}

// parseScenario reads the blocks of a scenario.
func parseScenario(text string) ([]block, error) {
	var blocks []block
	var b block
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case b.command == "" && (line == "" || strings.HasPrefix(line, "#")):
			b.comments = append(b.comments, line)
		case b.command == "":
			b.command, b.line = line, i+1
		case line != scenarioRule:
			return nil, fmt.Errorf("line %d: after the command %q there has to be %q", i+1, b.command, scenarioRule)
		default:
			for i+1 < len(lines) && lines[i+1] != "" {
				i++
			}
			blocks, b = append(blocks, b), block{}
		}
	}
	if b.command != "" {
		return nil, fmt.Errorf("line %d: after the command %q there has to be %q", b.line, b.command, scenarioRule)
	}
	return blocks, nil
}

// formatScenario writes blocks as a file holds them.
func formatScenario(blocks []block) string {
	var out strings.Builder
	for _, b := range blocks {
		for _, comment := range b.comments {
			out.WriteString(comment + "\n")
		}
		out.WriteString(b.command + "\n" + scenarioRule + "\n" + b.output)
	}
	return out.String()
}
