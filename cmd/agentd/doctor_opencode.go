package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"agentd/actors"
	"agentd/cmd/agentd/internal/home"
	"agentd/messages"
	"agentd/persistence/memory"
	"agentd/presets"
	"agentd/presets/process"
	"agentd/providers/catalog/bounded"
	"agentd/providers/opencode"
	"agentd/providers/opencode/bridge"
)

const (
	// versionWait bounds "opencode --version"; a cold start on a busy machine takes seconds.
	versionWait = 30 * time.Second
	// maxVersionOutput is how much of its output is kept.
	maxVersionOutput = 4 << 10
	// probeWait bounds a probe.
	probeWait = 3 * time.Minute
	// maxLoginBytes bounds the file of logins.
	maxLoginBytes = 1 << 20
)

// The versions of OpenCode that agentd was tried with, as major, minor and patch. What lies between is expected to work.
const (
	oldestOpenCode = "1.2.27"
	newestOpenCode = "1.18.33"
)

const installOpenCode = "install it with \"npm install -g opencode-ai\""

// checkOpenCode looks at what the space agent needs. What depends on something that is missing is not checked.
func (a *app) checkOpenCode(ctx context.Context, dir home.Dir, flags doctorFlags) []finding {
	settings, err := a.spaceSettings(dir, flags.space)
	if err != nil {
		return []finding{fine("space agent", "%s", err).fails("correct it; \"agentd help space\" shows what it may hold")}
	}
	found := []finding{}
	path, err := exec.LookPath(settings.executable)
	if err == nil {
		path, err = filepath.Abs(path) // It is started in another folder.
	}
	if err != nil {
		found = append(found, fine("opencode", "not found: %s", err).fails(
			fmt.Sprintf("%s, or name it with --opencode, $%s or \"executable\" in %q", installOpenCode, envOpenCodePath, settings.path)))
	} else {
		found = append(found, checkVersion(ctx, path))
	}
	runs := len(found) == 1 && found[0].Health != faulty
	found = append(found, checkModel(settings), a.checkLogin(settings))
	if missing := a.missingEnv(settings); len(missing) > 0 {
		found = append(found, fine("variables", "%s not set", strings.Join(missing, ", ")).fails(
			fmt.Sprintf("set them, or take them out of \"env\" in %q", settings.path)))
	}
	if flags.probe {
		if !runs {
			return append(found, fine("probe", "OpenCode was not started").warns("mend what is above first"))
		}
		found = append(found, a.probe(ctx, dir, settings)...)
	}
	return found
}

// checkVersion runs the executable, with folders of its own.
func checkVersion(ctx context.Context, path string) finding {
	f := fine("opencode", "%s", path)
	version, err := openCodeVersion(ctx, path)
	if err != nil {
		f.Text += ": " + err.Error()
		return f.fails("it does not start; " + installOpenCode)
	}
	f.Text += ", version " + version
	switch {
	case olderVersion(version, oldestOpenCode):
		return f.fails(fmt.Sprintf("version %s is too old: agentd was tried with %s to %s; %s", version, oldestOpenCode, newestOpenCode, installOpenCode))
	case olderVersion(newestOpenCode, version):
		return f.warns(fmt.Sprintf("agentd was tried with %s to %s; if turns fail, install a version of those", oldestOpenCode, newestOpenCode))
	}
	return f
}

// openCodeVersion asks the executable for its version.
func openCodeVersion(ctx context.Context, path string) (_ string, err error) {
	own, err := os.MkdirTemp("", "agentd-doctor-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	ctx, stop := context.WithTimeoutCause(ctx, versionWait, fmt.Errorf("\"opencode --version\" did not end within %s", versionWait))
	defer stop()
	env := []string{"PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"), "TEMP=" + own, "TMP=" + own, "OPENCODE_DISABLE_AUTOUPDATE=1"}
	for _, key := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "TMPDIR"} {
		env = append(env, key+"="+own)
	}
	said := process.NewCapture(maxVersionOutput)
	p, err := process.Start(process.Params{Path: path, Args: []string{"--version"}, Dir: own, Env: env, Stdout: said, Stderr: said}, nil)
	if err != nil {
		return "", err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		_, err := p.Kill(context.WithoutCancel(ctx))
		return "", errors.Join(context.Cause(ctx), err)
	}
	version := regexp.MustCompile(`\d+\.\d+\.\d+`).FindString(said.String())
	if exit, _ := p.Exit(); exit.Code != 0 || version == "" {
		return "", fmt.Errorf("\"opencode --version\" ended with %s and said %.200q", exit, strings.TrimSpace(said.String()))
	}
	return version, nil
}

// olderVersion reports whether a is before b. Both are numbers with points between them.
func olderVersion(a, b string) bool {
	numbers := func(version string) []int {
		var out []int
		for part := range strings.SplitSeq(version, ".") {
			n, _ := strconv.Atoi(part) // What is not a number counts as 0.
			out = append(out, n)
		}
		return out
	}
	return slices.Compare(numbers(a), numbers(b)) < 0
}

// checkModel looks at the named model without asking OpenCode.
func checkModel(s spaceSettings) finding {
	if s.model == (opencode.Model{}) {
		return fine("model", "none is named").fails(
			fmt.Sprintf("name one as PROVIDER/MODEL with --model, in $%s, or as \"model\" in %q; \"opencode models\" lists them", envSpaceModel, s.path))
	}
	f := fine("model", "%s", s.model)
	provider := ownProvider(s)
	if !provider.Exists() {
		return f
	}
	if _, there := provider.Get("models").Map()[s.model.ModelID]; !there {
		f.Text += fmt.Sprintf(": the provider %q in %q has no such model", s.model.ProviderID, s.path)
		return f.fails("add it to the provider's \"models\", or name another")
	}
	return f
}

// ownProvider is the provider of the model in the configuration file, if it is there.
func ownProvider(s spaceSettings) gjson.Result {
	return gjson.ParseBytes(s.provider).Map()[s.model.ProviderID]
}

// checkLogin looks for the login to the model's provider. It reads for whom there is one, and no secret.
func (a *app) checkLogin(s spaceSettings) finding {
	data, err := bridge.PersonalData()
	if err != nil {
		return fine("login", "%s", err).fails("set HOME")
	}
	path := filepath.Join(data, "opencode", "auth.json")
	logins, err := readLogins(path)
	if err != nil {
		return fine("login", "%s", err).fails("log in anew with \"opencode auth login\"")
	}
	provider := s.model.ProviderID
	switch {
	case provider == "" && len(logins) == 0:
		return fine("login", "none in %s yet; some models need none", path)
	case provider == "":
		return fine("login", "%s in %s", count(len(logins), "login"), path)
	case slices.Contains(logins, provider):
		return fine("login", "%s, in %s", provider, path)
	case ownProvider(s).Exists():
		return fine("login", "%s is configured in %s", provider, s.path)
	case provider == "opencode":
		return fine("login", "none for opencode; its free models need none")
	case len(s.env) > 0:
		return fine("login", "none for %s, but variables are passed on: %s", provider, strings.Join(s.env, ", "))
	default:
		return fine("login", "none for %s in %s", provider, path).fails(
			fmt.Sprintf("log in with \"opencode auth login\", or name the variable that holds the provider's key in \"env\" in %q", s.path))
	}
}

// readLogins returns the providers that the person is logged in to.
func readLogins(path string) ([]string, error) {
	text, err := bounded.ReadAll(path, maxLoginBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !gjson.ValidBytes(text) || !gjson.ParseBytes(text).IsObject() {
		return nil, fmt.Errorf("%s is no JSON object", path)
	}
	return slices.Sorted(maps.Keys(gjson.ParseBytes(text).Map())), nil
}

func (a *app) missingEnv(s spaceSettings) []string {
	var missing []string
	for _, name := range s.env {
		if a.getenv(name) == "" {
			missing = append(missing, name)
		}
	}
	return missing
}

// probe starts OpenCode as a turn would, but in folders that are thrown away, and asks it. Sessions are kept in memory, so the data
// directory is not touched.
func (a *app) probe(ctx context.Context, dir home.Dir, s spaceSettings) []finding {
	ctx, stop := context.WithTimeoutCause(ctx, probeWait, fmt.Errorf("the probe did not end within %s", probeWait))
	defer stop()
	found, err := a.probing(ctx, dir, s)
	if err != nil {
		found = append(found, fine("probe", "%s", err).fails("see whether \"opencode serve\" starts by hand; -v shows more"))
	}
	return found
}

func (a *app) probing(ctx context.Context, dir home.Dir, s spaceSettings) (found []finding, err error) {
	own, err := os.MkdirTemp("", "agentd-probe-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	manager, err := loadPresets(ctx, dir, a.logger())
	if err != nil {
		return nil, err
	}
	runtime, err := actors.Start(actors.Deps{Store: memory.New(), Agents: &actors.Agents{}, Presets: manager}, &actors.Options{Logger: a.logger()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, runtime.Stop(context.WithoutCancel(ctx))) }()
	br, err := bridge.New(runtime.Tools(), bridge.Params{Home: filepath.Join(own, "agent-opencode")}, s.bridgeOptions(a))
	if err != nil {
		return nil, err
	}
	defer func() {
		stopping, stop := context.WithTimeout(context.WithoutCancel(ctx), bridgeStopWait)
		defer stop()
		err = errors.Join(err, br.Stop(stopping))
	}()
	if err := br.Start(ctx); err != nil {
		return nil, err
	}
	caller := presets.Caller{SessionID: messages.NewSessionID(), AgentID: "space"}
	link, err := br.Open(ctx, caller)
	if err != nil {
		return nil, err
	}
	tools, err := runtime.Tools().Tools(ctx, caller)
	if err != nil {
		return nil, err
	}
	found = append(found, fine("probe", "OpenCode %s runs and sees %s", link.Server().Version(), count(len(tools), "tool")))
	providers, err := link.Client().Providers(ctx)
	if err != nil {
		return found, err
	}
	return append(found, probedModel(providers, s)), nil
}

// probedModel looks for the model among those that OpenCode can use now.
func probedModel(providers []opencode.Provider, s spaceSettings) finding {
	var ids []string
	for _, p := range providers {
		ids = append(ids, p.ID)
		if p.ID != s.model.ProviderID {
			continue
		}
		if slices.Contains(p.Models, s.model.ModelID) {
			return fine("probed model", "OpenCode can use %s", s.model)
		}
		few := slices.Sorted(slices.Values(p.Models))
		return fine("probed model", "%s has no model %q", p.ID, s.model.ModelID).fails(
			fmt.Sprintf("name another, such as %s/%s; \"opencode models %s\" lists all", p.ID, strings.Join(few[:min(len(few), 3)], ", "+p.ID+"/"), p.ID))
	}
	slices.Sort(ids)
	if s.model == (opencode.Model{}) {
		return fine("probed model", "OpenCode can use models of %s", strings.Join(ids, ", "))
	}
	return fine("probed model", "OpenCode has no provider %q; it has %s", s.model.ProviderID, strings.Join(ids, ", ")).fails(
		"log in to it with \"opencode auth login\", or name another model")
}
