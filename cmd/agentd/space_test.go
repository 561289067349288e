package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/cmd/agentd/internal/home"
	"agentd/providers/opencode"
	"agentd/providers/opencode/bridge"
)

func TestOpenCodeIsNotFound(t *testing.T) {
	t.Parallel()
	const absent = "agentd-test-no-such-program"
	for _, test := range []struct{ namedBy, want string }{
		{"", `OpenCode is not installed (exec: "` + absent + `": executable file not found in`},
		{"", `"npm install -g opencode-ai" installs it; --opencode, $OPENCODE_PATH or "executable" in "space.json" name one`},
		{"--opencode", `--opencode names OpenCode's executable, which cannot be run: exec: "` + absent},
	} {
		if err := (spaceSettings{path: "space.json", executable: absent, namedBy: test.namedBy}).found(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("found() = %v, want %q", err, test.want)
		}
	}
}

func TestSpaceSettingsPrecedence(t *testing.T) {
	t.Parallel()
	const file = `{"model":"file/m","executable":"file","online":false,"allow-npm":true,"env":["KEY"],"provider":{"p":{}}}`
	model := func(provider string) opencode.Model { return opencode.Model{ProviderID: provider, ModelID: "m"} }
	for _, test := range []struct {
		name       string
		file       string
		env        map[string]string
		flags      spaceFlags
		model      opencode.Model
		executable string
		online     bool
	}{
		{name: "nothing", executable: "opencode", online: true},
		{name: "an empty file", file: "{}", executable: "opencode", online: true},
		{name: "the file", file: file, model: model("file"), executable: "file"},
		{
			name: "variables", file: file, env: map[string]string{envSpaceModel: "env/m", envOpenCodePath: "env"},
			model: model("env"), executable: "env",
		},
		{
			name: "flags", file: file, env: map[string]string{envSpaceModel: "env/m", envOpenCodePath: "env"}, flags: spaceFlags{model: "flag/m", opencode: "flag"},
			model: model("flag"), executable: "flag",
		},
		{name: "a worse one is not looked at", file: `{"model":"nonsense"}`, flags: spaceFlags{model: "flag/m"}, model: model("flag"), executable: "opencode", online: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := home.Dir(t.TempDir())
			if test.file != "" {
				path := filepath.Join(openCodeHome(dir), "space.json")
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a := &app{program: &program{getenv: func(name string) string { return test.env[name] }}}
			got, err := a.spaceSettings(dir, test.flags)
			if err != nil {
				t.Fatal(err)
			}
			if got.model != test.model || got.executable != test.executable || got.online != test.online {
				t.Errorf("spaceSettings() = %+v, want %s, %q, online %v", got, test.model, test.executable, test.online)
			}
		})
	}
}

func TestSpaceFileFaultsSpeakOfTheFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                      "it is empty: write an object, such as {}",
		"{":                     "it is cut off: the object does not end",
		"[]":                    "it holds one value of type array, and has to hold an object",
		`{"model":5}`:           `"model" must not be of type number`,
		`{"env":[1]}`:           `"env" must not be of type number`,
		`{"models":"a/b"}`:      `unknown field "models"`,
		`{} {}`:                 "something stands behind the object",
		`{"provider":[]}`:       `"provider" is not an object`,
		`{"model":"a/b" "x":1}`: `invalid character '"' after object key:value pair`,
	} {
		var file spaceFile
		if err := file.decode([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("decode(%q) = %v, want %q", text, err, want)
		}
	}
}

func TestBridgeOptionsPassVariablesThatAreSet(t *testing.T) {
	t.Parallel()
	a := &app{program: &program{getenv: func(name string) string { return map[string]string{"KEY": "secret"}[name] }}}
	s := spaceSettings{executable: "x", env: []string{"KEY", "OTHER"}, online: true, allowNpm: true, provider: json.RawMessage(`{}`)}
	got := s.bridgeOptions(a)
	if diff := cmp.Diff([]string{"KEY=secret"}, got.Server.Env); diff != "" {
		t.Errorf("Env (-want +got):\n%s", diff)
	}
	if !got.Server.Online || !got.Server.AllowNpm || got.Executable != "x" || string(got.Provider) != "{}" {
		t.Errorf("bridgeOptions() = %+v", got)
	}
	if got := a.missingEnv(s); len(got) != 1 || got[0] != "OTHER" {
		t.Errorf("missingEnv() = %q, want OTHER", got)
	}
}

// TestOpenCodeOutwaitsThePerson holds that a tool which waits for a person is not given up before the person is.
func TestOpenCodeOutwaitsThePerson(t *testing.T) {
	t.Parallel()
	if bridge.DefaultToolTimeout <= personWait {
		t.Errorf("OpenCode waits %s for a tool, a person is waited for %s", bridge.DefaultToolTimeout, personWait)
	}
}

func TestCheckEnvName(t *testing.T) {
	t.Parallel()
	for name, fine := range map[string]bool{
		"ANTHROPIC_API_KEY": true, "AWS_PROFILE": true, "": false, "A=B": false, "A B": false, "HOME": false, "home": false, "UserProfile": false,
		"XDG_CONFIG_HOME": false, "XDG_DATA_HOME": false, "OPENCODE_CONFIG": false, "OPENCODE_CONFIG_CONTENT": false, "OPENCODE_SERVER_PASSWORD": false, "opencode_config": false,
	} {
		if err := checkEnvName(name); (err == nil) != fine {
			t.Errorf("checkEnvName(%q) = %v", name, err)
		}
	}
}

func TestOlderVersion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"1.2.27", "1.2.27", false},
		{"1.2.9", "1.2.27", true},
		{"1.10.0", "1.9.9", false},
		{"0.15.1", "1.2.27", true},
		{"1.18.33", "2.0.0", true},
		{"2.0.0", "1.18.33", false},
	} {
		if got := olderVersion(test.a, test.b); got != test.want {
			t.Errorf("olderVersion(%s, %s) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func FuzzSpaceFile(f *testing.F) {
	for _, seed := range []string{"", "{}", "null", `{"model":"a/b","online":true,"env":["K"]}`, `{"provider":null}`, `{"provider":[]}`, `{} x`, `{"env":["HOME"]}`, `{"env":null}`, `{"provider":{"a":1}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var file spaceFile
		if file.decode(text) != nil {
			return
		}
		if len(file.Provider) > 0 && (file.Provider[0] != '{' || !json.Valid(file.Provider)) {
			t.Errorf("decode(%q) let the provider section %q through", text, file.Provider)
		}
		for _, name := range file.Env {
			if name == "" || strings.Contains(name, "=") || strings.EqualFold(name, "HOME") {
				t.Errorf("decode(%q) let the variable %q through", text, name)
			}
		}
	})
}
