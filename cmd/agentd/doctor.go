package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentd/cmd/agentd/internal/home"
	"agentd/cmd/internal/screen"
	"agentd/presets"
)

const doctorHelp = `Look at what agentd stands on, and tell what is missing and how to mend it: the data directory, the workspace, the presets and their approvals,
and OpenCode with its login and model, which the space agent needs. Nothing is changed, and nothing but OpenCode's "--version" is run.

With --probe OpenCode is started with a configuration folder of its own that is thrown away, and your login. It is asked for its models, and
whether it can reach agentd's tools. No model is called.

The exit code is 0 if nothing is missing, and 1 if something is. A warning is no fault.`

// health is how a check came out.
type health string

const (
	healthy health = "ok"
	warned  health = "warning"
	faulty  health = "fault"
)

// finding is what one check found.
type finding struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Health health `json:"health"`
	Text   string `json:"text"`
	// Mend says how to mend it. It is empty if nothing needs to be.
	Mend string `json:"mend,omitempty"`
}

func fine(name, format string, args ...any) finding {
	return finding{Kind: "check", Name: name, Health: healthy, Text: fmt.Sprintf(format, args...)}
}

func (f finding) warns(mend string) finding {
	f.Health, f.Mend = warned, mend
	return f
}

func (f finding) fails(mend string) finding {
	f.Health, f.Mend = faulty, mend
	return f
}

type doctorFlags struct {
	space  spaceFlags
	probe  bool
	asJSON bool
}

func newDoctor(a *app) *cobra.Command {
	var flags doctorFlags
	cmd := &cobra.Command{
		Use: "doctor", Short: "Tell what is missing, and how to mend it", Long: doctorHelp,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		Example: "  agentd doctor\n  agentd doctor --model opencode/big-pickle --probe",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), flags) },
	}
	flags.space.add(cmd.Flags())
	cmd.Flags().BoolVar(&flags.probe, "probe", false, "start OpenCode and ask it")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON lines; see \"agentd help json-lines\"")
	return cmd
}

// doctor checks everything and prints what was found.
func (a *app) doctor(ctx context.Context, flags doctorFlags) error {
	dir, err := a.home()
	if err != nil {
		return err
	}
	findings := []finding{a.checkDir(ctx, dir), a.checkWorkspace()}
	findings = append(findings, a.checkPresets(ctx, dir), checkGrants(ctx, dir))
	findings = append(findings, a.checkOpenCode(ctx, dir, flags)...)
	if err := a.printFindings(findings, flags.asJSON); err != nil {
		return err
	}
	if slices.ContainsFunc(findings, func(f finding) bool { return f.Health == faulty }) {
		return &toldError{code: exitFailed}
	}
	return nil
}

func (a *app) printFindings(findings []finding, asJSON bool) error {
	if asJSON {
		for _, f := range findings {
			if err := (jsonLines{a.stdout}).write(f); err != nil {
				return err
			}
		}
		return nil
	}
	styles := a.styles()
	colour := map[health]func(string) string{healthy: styles.Agent, warned: styles.Warn, faulty: styles.Fail}
	for _, f := range findings {
		mark := colour[f.Health](fmt.Sprintf("%-8s", f.Health))
		if _, err := fmt.Fprintf(a.stdout, "%s %-15s %s\n", mark, f.Name, screen.CleanLine(f.Text)); err != nil {
			return err
		}
		if f.Mend == "" {
			continue
		}
		if _, err := fmt.Fprintf(a.stdout, "%25s-> %s\n", "", screen.CleanLine(f.Mend)); err != nil {
			return err
		}
	}
	return nil
}

// checkDir looks at the data directory without taking it.
func (a *app) checkDir(ctx context.Context, dir home.Dir) finding {
	f := fine("data directory", "%s", dir.Path())
	there, err := dir.Exists()
	switch {
	case err != nil:
		f.Text = err.Error()
		return f.fails("choose another with --data-dir or " + home.EnvHome)
	case !there:
		parent := existingParent(dir.Path())
		if err := tryWriting(parent); err != nil {
			f.Text += fmt.Sprintf(" is not there yet, and cannot be made: %s", err)
			return f.fails(fmt.Sprintf("%s, or choose another directory with --data-dir or %s", mendWriting(err, parent), home.EnvHome))
		}
		f.Text += " is not there yet; the first session makes it"
		return f
	}
	if err := tryWriting(dir.Path()); err != nil {
		f.Text += fmt.Sprintf(" cannot be written to: %s", err)
		return f.fails(fmt.Sprintf("%s, or choose another with --data-dir or %s", mendWriting(err, dir.Path()), home.EnvHome))
	}
	return checkSessions(ctx, dir, f)
}

// checkSessions looks for sessions that cannot be read. Another process may own the directory meanwhile.
func checkSessions(ctx context.Context, dir home.Dir, f finding) finding {
	const repair = "\"agentd repair\" saves what can be read, and says what could not be"
	reader, err := dir.Read()
	if err != nil {
		f.Text = err.Error()
		return f.fails(repair)
	}
	defer reader.Close()
	listing, err := reader.List(ctx)
	if err != nil {
		f.Text = err.Error()
		return f.fails(repair)
	}
	f.Text += fmt.Sprintf(" (%s)", count(len(listing.Sessions), "session"))
	if len(listing.Bad) > 0 {
		f.Text += fmt.Sprintf("; %s cannot be read, such as %q: %s", count(len(listing.Bad), "session"), listing.Bad[0].ID, listing.Bad[0].Err)
		return f.fails(repair)
	}
	if pid, owned := dir.Owner(); owned {
		f.Text += fmt.Sprintf("; process %d uses it", pid)
		return f.warns("nothing else can run a turn or change anything in it meanwhile: stop that process, or choose another with --data-dir or " + home.EnvHome)
	}
	return f
}

// existingParent is the nearest folder above that is there.
func existingParent(path string) string {
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			return at
		}
	}
}

// tryBytes is what has to fit into a folder that is to be written to: less than a session begins with.
const tryBytes = 64 << 10

// tryWriting tries it: modes and owners do not say it in every system, and a full disk still takes empty files. What it makes it removes.
func tryWriting(dir string) error {
	file, err := os.CreateTemp(dir, ".agentd-doctor-*")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, tryBytes))
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

// mendWriting says how to mend what tryWriting found in a folder.
func mendWriting(err error, dir string) string {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Sprintf("make %q writable for you", dir)
	}
	return fmt.Sprintf("make room in %q, or see what is wrong with its disk", dir)
}

func (a *app) checkWorkspace() finding {
	root, err := a.workspaceRoot()
	if err != nil {
		return fine("workspace", "%s", err).fails("name a folder with --workspace, or go to one")
	}
	f := fine("workspace", "%s", root)
	if err := tryWriting(root); err != nil {
		f.Text += fmt.Sprintf(" cannot be written to: %s", err)
		return f.warns("tools that write files will fail; name another folder with --workspace if they should not")
	}
	return f
}

// checkPresets tells which tools there are, and which of them ask first.
func (a *app) checkPresets(ctx context.Context, dir home.Dir) finding {
	manager, err := loadPresets(ctx, dir, a.logger())
	if err != nil {
		return fine("presets", "%s", err).fails(fmt.Sprintf("move %q away to go on without what was turned on and off", dir.Overrides()))
	}
	active := manager.Resolve("").Presets
	policy := presets.DefaultPolicy()
	var asking []string
	for _, preset := range active {
		if policy.Rule(preset.Risk) != presets.RuleAuto {
			asking = append(asking, fmt.Sprintf("%s (%s)", preset.Name, preset.Risk))
		}
	}
	f := fine("presets", "%d of %d are active", len(active), len(manager.Presets()))
	if len(asking) > 0 {
		f.Text += "; need an approval: " + strings.Join(asking, ", ")
	}
	if len(active) == 0 {
		return f.warns("agents have no tools: turn presets on with \"agentd presets set NAME on\"")
	}
	return f
}

func checkGrants(ctx context.Context, dir home.Dir) finding {
	grants, err := dir.GrantFile().Load(ctx)
	if err != nil {
		return fine("approvals", "%s", err).fails("the file has to go before agentd starts; what was approved always is asked again then")
	}
	return fine("approvals", "%s always", count(len(liveGrants(grants, time.Now())), "call")+" approved")
}
