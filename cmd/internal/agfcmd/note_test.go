package agfcmd_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"agentd/cmd/internal/agfcmd"
	"agentd/providers/catalog"
)

// What is said beside an answer is said in the name of the program that a person called.
func TestNotesNameTheProgram(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		parent *cobra.Command
		want   string
	}{
		{"agf itself", nil, "agf: "},
		{"within agentd", &cobra.Command{Use: "agentd"}, "agentd agf: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			var out, notes bytes.Buffer
			root := agfcmd.New(agfcmd.Params{Version: "1", In: strings.NewReader(""), Out: &out, Err: &notes, Env: func() catalog.Env {
				return catalog.Env{Home: home, Dir: home, OS: "linux", Vars: map[string]string{"CODEX_HOME": home + "/nowhere"}}
			}})
			args := []string{"list", "--no-cache", "since:never"}
			if tt.parent != nil {
				tt.parent.AddCommand(root)
				root, args = tt.parent, append([]string{"agf"}, args...)
			}
			root.SetArgs(args)
			if err := root.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(notes.String(), "\n"), "\n")
			if len(lines) != 2 {
				t.Fatalf("the notes are %q, want one on the filter and one on the place that is missing", lines)
			}
			for _, line := range lines {
				if !strings.HasPrefix(line, tt.want) {
					t.Errorf("the note %q does not begin with %q", line, tt.want)
				}
			}
		})
	}
}
