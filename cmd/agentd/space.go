package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"agentd/actors"
	"agentd/actors/agents/space"
	"agentd/cmd/agentd/internal/home"
	"agentd/presets/prompt"
	"agentd/providers/catalog/bounded"
	"agentd/providers/opencode"
	"agentd/providers/opencode/bridge"
)

// What names the space agent's model and executable beside the flags and the file.
const (
	envSpaceModel   = "AGENTD_SPACE_MODEL"
	envOpenCodePath = "OPENCODE_PATH"
)

const (
	// spaceName is the agent's name for people.
	spaceName = "Space Agent"
	// maxSpaceBytes bounds the configuration file.
	maxSpaceBytes = 1 << 20
	// bridgeStopWait bounds the end of OpenCode when the program ends.
	bridgeStopWait = 20 * time.Second
)

// spaceFlags are what a command says about the space agent.
type spaceFlags struct {
	model    string
	opencode string
}

func (f *spaceFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.model, "model", "", "for the space agent: the `model` that answers, as PROVIDER/MODEL (default $"+envSpaceModel+")")
	flags.StringVar(&f.opencode, "opencode", "", "for the space agent: the `executable` of OpenCode (default $"+envOpenCodePath+", else opencode)")
}

// spaceFile is what the configuration file says. It is the person's; agentd only reads it.
type spaceFile struct {
	Model      string          `json:"model"`
	Executable string          `json:"executable"`
	Provider   json.RawMessage `json:"provider"`
	Online     *bool           `json:"online"`
	AllowNpm   bool            `json:"allow-npm"`
	Env        []string        `json:"env"`
}

// spaceSettings are the flags, the variables and the file in one.
type spaceSettings struct {
	// path is the file, whether it is there or not.
	path string
	// model is zero if nobody has named one.
	model      opencode.Model
	executable string
	// namedBy says who has named the executable; empty if nobody has.
	namedBy  string
	provider json.RawMessage
	online   bool
	allowNpm bool
	// env are the names of variables that OpenCode gets too.
	env []string
}

// openCodeHome is the folder of everything that has to do with OpenCode.
func openCodeHome(dir home.Dir) string { return filepath.Join(dir.Path(), "agent-opencode") }

// spaceSettings reads the configuration. The error names what is wrong and where.
func (a *app) spaceSettings(dir home.Dir, flags spaceFlags) (spaceSettings, error) {
	s := spaceSettings{path: filepath.Join(openCodeHome(dir), "space.json"), online: true}
	file, err := readSpaceFile(s.path)
	if err != nil {
		return s, err
	}
	s.executable = bridge.DefaultExecutable
	for _, named := range []struct{ where, path string }{
		{fmt.Sprintf("%q in %q", "executable", s.path), file.Executable}, {"$" + envOpenCodePath, a.getenv(envOpenCodePath)}, {"--opencode", flags.opencode},
	} {
		if named.path != "" {
			s.executable, s.namedBy = named.path, named.where
		}
	}
	s.provider, s.allowNpm, s.env = file.Provider, file.AllowNpm, file.Env
	if file.Online != nil {
		s.online = *file.Online
	}
	for _, named := range []struct{ where, model string }{
		{"--model", flags.model}, {"$" + envSpaceModel, a.getenv(envSpaceModel)}, {fmt.Sprintf("%q in %q", "model", s.path), file.Model},
	} {
		if named.model == "" {
			continue
		}
		if s.model, err = opencode.ParseModel(named.model); err != nil {
			return s, misuse("%s is %.200q: give PROVIDER/MODEL, such as opencode/big-pickle; \"opencode models\" lists what there is", named.where, named.model)
		}
		break
	}
	return s, nil
}

// readSpaceFile reads the configuration file. One that is not there says nothing. It does not wait for whoever holds the other end of a
// pipe in its place.
func readSpaceFile(path string) (spaceFile, error) {
	var file spaceFile
	text, err := bounded.ReadAll(path, maxSpaceBytes)
	if errors.Is(err, os.ErrNotExist) {
		return file, nil
	}
	if err != nil {
		return file, fmt.Errorf("reading the space agent's configuration: %w", err)
	}
	if err := file.decode(text); err != nil {
		return file, fmt.Errorf("reading %q: %w", path, err)
	}
	return file, nil
}

func (f *spaceFile) decode(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(f); err != nil {
		return spaceFault(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the object")
	}
	if bytes.Equal(f.Provider, []byte("null")) {
		f.Provider = nil
	}
	if len(f.Provider) > 0 && f.Provider[0] != '{' {
		return errors.New(`"provider" is not an object`)
	}
	for _, name := range f.Env {
		if err := checkEnvName(name); err != nil {
			return err
		}
	}
	return nil
}

// spaceFault says in the words of the file what is wrong with it.
func spaceFault(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty: write an object, such as {}")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it is cut off: the object does not end")
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("%q must not be of type %s", wrong.Field, wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("it holds one value of type %s, and has to hold an object", wrong.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// checkEnvName refuses variables that would lead OpenCode to a configuration other than the one it is given.
func checkEnvName(name string) error {
	upper := strings.ToUpper(name)
	switch {
	case name == "" || strings.ContainsAny(name, "= \x00\n"):
		return fmt.Errorf(`"env" holds %.60q: give names of variables`, name)
	case upper == "HOME", upper == "USERPROFILE", strings.HasPrefix(upper, "XDG_"), strings.HasPrefix(upper, "OPENCODE_"):
		return fmt.Errorf(`"env" holds %.60q: it would change where OpenCode looks for its configuration`, name)
	}
	return nil
}

// bridgeOptions are those with which the agent's OpenCode runs.
func (s spaceSettings) bridgeOptions(a *app) *bridge.Options {
	var env []string
	for _, name := range s.env {
		if value := a.getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return &bridge.Options{
		Executable: s.executable, Provider: s.provider, Logger: a.logger(),
		Server: opencode.ServerOptions{Online: s.online, AllowNpm: s.allowNpm, Env: env},
	}
}

// usable checks what can be checked without starting anything.
func (s spaceSettings) usable() error {
	if s.model == (opencode.Model{}) {
		return fmt.Errorf("%w, with --model, in $%s, or as \"model\" in %q", space.ErrNoModel, envSpaceModel, s.path)
	}
	return s.found()
}

// found checks that there is an executable.
func (s spaceSettings) found() error {
	_, err := exec.LookPath(s.executable)
	switch {
	case err == nil:
		return nil
	case s.namedBy != "":
		return fmt.Errorf("%s names OpenCode's executable, which cannot be run: %w", s.namedBy, err)
	}
	return fmt.Errorf("OpenCode is not installed (%w): \"npm install -g opencode-ai\" installs it; --opencode, $%s or \"executable\" in %q name one that is elsewhere", err, envOpenCodePath, s.path)
}

// connectFunc makes the space agent with everything that it needs. It is called for the first turn.
type connectFunc func(ctx context.Context, s spaceSettings) (actors.Agent, error)

// registerSpace registers the space agent. Until its first turn it costs nothing: no server, no process, no file. Connect may be nil for a
// list of agents, which runs none.
func (a *app) registerSpace(agents *actors.Agents, flags spaceFlags, connect connectFunc) error {
	return agents.Register(space.ID, func() (actors.Agent, error) {
		dir, err := a.home()
		if err != nil {
			return nil, err
		}
		settings, err := a.spaceSettings(dir, flags)
		if err == nil {
			err = settings.usable()
		}
		if err != nil {
			return nil, err
		}
		return &lazySpace{settings: settings, connect: connect, gate: make(chan struct{}, 1)}, nil
	})
}

// lazySpace is the space agent before and after its first turn.
type lazySpace struct {
	settings spaceSettings
	connect  connectFunc
	gate     chan struct{} // held by who connects
	agent    actors.Agent  // under the gate; nil before the first turn
}

var _ actors.LingeringAgent = (*lazySpace)(nil)

// Name implements [actors.Agent].
func (l *lazySpace) Name() string { return spaceName }

// CancelGrace implements [actors.LingeringAgent].
func (*lazySpace) CancelGrace() time.Duration { return space.CancelGrace }

// Run implements [actors.Agent].
func (l *lazySpace) Run(ctx context.Context, tc *actors.TurnContext) error {
	agent, err := l.connected(ctx)
	if err != nil {
		return err
	}
	return agent.Run(ctx, tc)
}

func (l *lazySpace) connected(ctx context.Context) (actors.Agent, error) {
	select {
	case l.gate <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-l.gate }()
	if l.agent == nil {
		if l.connect == nil {
			return nil, errors.New("the space agent was only listed, and cannot run")
		}
		agent, err := l.connect(ctx, l.settings)
		if err != nil {
			return nil, err
		}
		l.agent = agent
	}
	return l.agent, nil
}

// connectSpace starts the bridge and returns the agent on it. It is called once at a time, and not again when it succeeded.
func (h *host) connectSpace(ctx context.Context, s spaceSettings) (actors.Agent, error) {
	br, err := bridge.New(h.runtime.Tools(), bridge.Params{Home: openCodeHome(h.dir)}, s.bridgeOptions(h.app))
	if err != nil {
		return nil, err
	}
	if err := br.Start(ctx); err != nil {
		return nil, err
	}
	agents := &actors.Agents{}
	err = space.Register(agents, br, space.Options{Model: s.model, Prompts: h.enrichers(), Logger: h.app.logger()})
	if err != nil {
		return nil, errors.Join(err, br.Stop(context.WithoutCancel(ctx)))
	}
	agent, err := agents.Get(space.ID)
	if err != nil {
		return nil, errors.Join(err, br.Stop(context.WithoutCancel(ctx)))
	}
	h.bridge = br
	h.runtime.SyncTools(br)
	return agent, nil
}

// enrichers say what is going on in this program.
func (h *host) enrichers() *prompt.Enrichers {
	var enrichers prompt.Enrichers
	err := enrichers.Register("workspace", func(context.Context, prompt.Subject) (string, error) {
		return fmt.Sprintf("The workspace folder is %q: file and shell tools work in it.", h.workspace), nil
	})
	if err != nil {
		panic(err) // The name and the function are there, a line above.
	}
	return &enrichers
}

// stopBridge ends OpenCode. The runtime has stopped, so no turn uses it any more.
func (h *host) stopBridge() error {
	if h.bridge == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), bridgeStopWait)
	defer stop()
	return h.bridge.Stop(ctx)
}

const spaceTopic = `The space agent works with OpenCode (https://opencode.ai), which has to be installed:

  npm install -g opencode-ai
  opencode auth login                                  log in to a model provider, once
  agentd doctor --model PROVIDER/MODEL --probe         see whether everything is there
  agentd run --agent space --model PROVIDER/MODEL "draw a red circle"

OpenCode runs with a configuration of agentd's own: none of its own tools, only those of agentd's presets, under agentd's approvals. Of
yours it uses the login, which it keeps in its data folder. It is started with the first prompt, and ended with the program.

The file agent-opencode/space.json in the data directory spares the flags. Everything in it may be left out:

  {"model": "PROVIDER/MODEL",       which model answers (--model and $` + envSpaceModel + ` come first)
   "executable": "PATH",            OpenCode's executable (--opencode and $` + envOpenCodePath + ` come first; default: opencode)
   "provider": {...},               the "provider" section of an opencode.json: providers that OpenCode does not know
   "online": true,                  let OpenCode fetch the catalogue of models (default: true)
   "allow-npm": false,              let it install the packages of providers that are not built in (default: false)
   "env": ["NAME"]}                 variables that OpenCode gets from yours, such as a provider's key

A key in "provider" or "env" is seen by OpenCode only: agentd logs neither.`
