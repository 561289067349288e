//go:build e2e

package bridge_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentd/messages"
	"agentd/presets"
	"agentd/providers/opencode"
	"agentd/providers/opencode/bridge"
	ms "agentd/testkit/modelserver"
)

// The tests of this file run the real OpenCode against a scripted model:
//
//	go test -tags e2e -run E2E ./providers/opencode/bridge -opencode /path/to/opencode
var executable = flag.String("opencode", os.Getenv("AGENTD_E2E_OPENCODE"), "path of the real opencode")

var fake = opencode.Model{ProviderID: "fake", ModelID: "fake-1"}

// real returns options that run the real OpenCode with the scripted model.
func real(t *testing.T, model *ms.Server) *bridge.Options {
	t.Helper()
	if *executable == "" {
		t.Fatal("name the real opencode by -opencode or AGENTD_E2E_OPENCODE; scripts/install-opencode.sh installs one")
	}
	provider, err := json.Marshal(map[string]any{"fake": map[string]any{
		"npm": "@ai-sdk/openai-compatible", "name": "Fake",
		"options": map[string]any{"baseURL": model.BaseURL(), "apiKey": "test-key"},
		"models":  map[string]any{"fake-1": map[string]any{"name": "Fake 1", "limit": map[string]any{"context": 128000, "output": 4096}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &bridge.Options{Executable: *executable, Provider: provider, Server: opencode.ServerOptions{IsolateIn: filepath.Join(t.TempDir(), "own")}}
}

func newModel(t *testing.T) *ms.Server {
	t.Helper()
	return ms.New(t, &ms.Options{Models: []string{"fake-1"}, APIKey: "test-key", Script: []ms.Step{
		{When: ms.Match{Prompt: "echo", TurnStep: 1}, Reply: ms.Call("space_space_echo", map[string]string{"text": "token-17"}), Times: ms.Always},
		{When: ms.Match{Prompt: "echo", TurnStep: 2}, Make: func(r ms.Request) ms.Reply { return ms.Say("it " + r.Last().Text) }, Times: ms.Always},
		{Reply: ms.Say("plain"), Times: ms.Always},
	}})
}

// runs are the tools that ran, each with its session.
func (w *world) runs() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.ran)
}

// prompt runs a turn in a fresh OpenCode session, and returns its text and the tools that the model was offered.
func (w *world) prompt(link *bridge.Link, model *ms.Server, text string) (string, []string) {
	w.t.Helper()
	session, err := link.Client().CreateSession(w.t.Context(), opencode.NewSession{Title: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	before := len(model.Turns())
	m, err := link.Client().Prompt(w.t.Context(), session.ID, opencode.PromptParams{Text: text, Model: fake})
	if err != nil {
		w.t.Fatal(err)
	}
	names := model.Turns()[before].ToolNames()
	slices.Sort(names)
	return m.Text(), names
}

func TestE2EBridge(t *testing.T) {
	w := newWorld(t)
	w.override(ben, "extra", presets.OverrideOn)
	w.override(ben, "plain", presets.OverrideOff)
	model := newModel(t)
	br := w.started(real(t, model))
	if br.Status().OpenCode.Running {
		t.Error("Start has started OpenCode")
	}

	// Two sessions open at once: one process, and each has its own tools and directory.
	sessions := []messages.SessionID{ann, ben}
	links := make([]*bridge.Link, 2)
	errs := make(chan error, 2)
	for i, session := range sessions {
		go func() {
			var err error
			links[i], err = br.Open(t.Context(), caller(session))
			errs <- err
		}()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	t.Logf("OpenCode %s", br.Status().OpenCode.Version)
	if links[0].Server() != links[1].Server() {
		t.Fatal("two processes run")
	}
	w.bind(links[0], ann)
	w.bind(links[1], ben)
	text, tools := w.prompt(links[0], model, "echo")
	if want := []string{requestTool, "space_space_echo"}; !slices.Equal(tools, want) {
		t.Errorf("the first session's model is offered %q, want %q", tools, want)
	}
	if !strings.HasPrefix(text, `it said {`) || !strings.Contains(text, "token-17") {
		t.Errorf("the first session answered %q", text)
	}
	_, tools = w.prompt(links[1], model, "hello")
	if want := []string{requestTool, "space_space_more"}; !slices.Equal(tools, want) {
		t.Errorf("the second session's model is offered %q, want %q", tools, want)
	}
	// Each asks for the other's tool, and does not get it.
	w.prompt(links[1], model, "echo")
	if got, want := w.runs(), []string{string(ann) + " space_echo"}; !slices.Equal(got, want) {
		t.Errorf("tools ran: %q, want %q", got, want)
	}

	// Later opens do nothing, and quickly.
	begin := time.Now()
	again, err := br.Open(t.Context(), caller(ann))
	if err != nil || again != links[0] {
		t.Errorf("a second Open() = %v, %v, want the same link", again, err)
	}
	t.Logf("a later Open took %s", time.Since(begin))

	// A change is seen by the model's next turn, and only in its session.
	events, err := links[0].Client().Events(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	w.override(ann, "extra", presets.OverrideOn)
	begin = time.Now()
	if err := br.Sync(t.Context(), presets.Change{Sessions: []messages.SessionID{ann}}); err != nil {
		t.Fatal(err)
	}
	for event := range events.C() {
		if _, ok := event.Body.(opencode.ToolsChanged); ok {
			t.Logf("OpenCode told of the change after %s", time.Since(begin))
			break
		}
	}
	if _, tools = w.prompt(links[0], model, "hello"); !slices.Contains(tools, "space_space_more") {
		t.Errorf("after the change the model is offered %q", tools)
	}

	w.restart(br, model, links[0])
}

// restart kills OpenCode and checks that the next open brings everything back.
func (w *world) restart(br *bridge.Bridge, model *ms.Server, link *bridge.Link) {
	w.t.Helper()
	t := w.t
	kill(t, link.Server().PID())
	<-link.Server().Done()
	if status := br.Status(); status.OpenCode.Running || status.Links[0].Connected || status.Links[1].Connected {
		t.Errorf("Status() after kill -9 = %+v", status)
	}
	second := w.open(br, ann)
	if second == link || second.Server() == link.Server() {
		t.Fatal("Open() after kill -9 gave the dead link")
	}
	status := br.Status()
	if !status.OpenCode.Running || status.OpenCode.PID != second.Server().PID() || !status.Links[0].Connected || status.Links[1].Connected {
		t.Errorf("Status() after the restart = %+v, want the first link connected and the second one not", status)
	}
	w.bind(second, ann)
	if text, _ := w.prompt(second, model, "echo"); !strings.Contains(text, "token-17") {
		t.Errorf("after the restart the session answered %q", text)
	}

	// A session whose link was closed can be opened again.
	if err := br.Close(t.Context(), ann); err != nil {
		t.Error(err)
	}
	third := w.open(br, ann)
	w.bind(third, ann)
	if text, _ := w.prompt(third, model, "echo"); !strings.Contains(text, "token-17") {
		t.Errorf("after Close and Open the session answered %q", text)
	}
}

// TestE2ESlowTool has a tool that takes longer than OpenCode waits for one by itself, as a tool does that waits for a person: 60 s in 1.2.
func TestE2ESlowTool(t *testing.T) {
	w := newWorld(t)
	w.takes = 70 * time.Second
	model := newModel(t)
	br := w.started(real(t, model))
	link := w.open(br, ann)
	w.bind(link, ann)
	if text, _ := w.prompt(link, model, "echo"); !strings.Contains(text, "token-17") {
		t.Errorf("the session answered %q", text)
	}
}

// TestE2EPersonsConfiguration puts a configuration wherever a person's could be, which would name another model and let all tools through, and
// a login into their data folder, which OpenCode must find.
func TestE2EPersonsConfiguration(t *testing.T) {
	person := t.TempDir()
	for _, key := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(key, person)
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(person, ".config"))
	t.Setenv("XDG_DATA_HOME", filepath.Join(person, "data"))
	config := `{"permission":{"*":"allow"},"instructions":["/nowhere"],"mcp":{"evil":{"type":"local","command":["/nowhere"]}},"provider":{"other":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"http://127.0.0.1:9/v1"},"models":{"m":{}}}}}`
	for _, path := range []string{".config/opencode/opencode.json", ".opencode/opencode.json"} {
		place(t, filepath.Join(person, path), config)
	}
	place(t, filepath.Join(person, ".config/opencode/AGENTS.md"), "the person's own rules")
	place(t, filepath.Join(person, ".claude/CLAUDE.md"), "the person's own rules")
	place(t, filepath.Join(person, "data/opencode/auth.json"), `{"loggedin":{"type":"api","key":"a-key-of-the-person"}}`)

	w := newWorld(t)
	model := newModel(t)
	opts := real(t, model)
	opts.Server.IsolateIn = ""
	opts.Provider = append(opts.Provider[:len(opts.Provider)-1], `,"loggedin":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"http://127.0.0.1:9/v1"},"models":{"m":{}}}}`...)
	// A project above the directories of the sessions, as if the data directory were in it.
	place(t, filepath.Join(w.home, "..", "opencode.json"), config)
	place(t, filepath.Join(w.home, "..", "AGENTS.md"), "the project's own rules")
	br := w.started(opts)
	link := w.open(br, ann)
	providers, err := link.Client().Providers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if has := func(id string) bool {
		return slices.ContainsFunc(providers, func(p opencode.Provider) bool { return p.ID == id })
	}; has("other") || !has("fake") || !has("loggedin") {
		t.Errorf("Providers() = %+v, want ours and not the person's", providers)
	}
	if servers, err := link.Client().MCPServers(t.Context()); err != nil || len(servers) > 1 {
		t.Errorf("MCPServers() = %+v, %v, want ours at most", servers, err)
	}
	w.bind(link, ann)
	_, tools := w.prompt(link, model, "hello")
	if want := []string{requestTool, "space_space_echo"}; !slices.Equal(tools, want) {
		t.Errorf("the model is offered %q, want %q", tools, want)
	}
	if system := model.Turns()[0].System; strings.Contains(system, "own rules") {
		t.Error("rules of the person or of a project reached the model")
	}
}

func place(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}
