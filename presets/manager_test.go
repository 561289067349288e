package presets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/messages"
)

// managerBundle is a manager with four adapters and what its listener heard.
type managerBundle struct {
	*Manager
	changes []Change
}

func setupManager(t *testing.T, opts *ManagerOptions) *managerBundle {
	t.Helper()
	manager, err := NewManager(opts)
	if err != nil {
		t.Fatalf("NewManager() = %v", err)
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		must(t, manager.RegisterAdapter(goodAdapter(id, ToolPrefix+id)))
	}
	b := &managerBundle{Manager: manager}
	manager.OnChange(func(change Change) { b.changes = append(b.changes, change) })
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// preset returns one that is active on the surface of its name's first letter, and whose tools are the letters of tools.
func preset(name, tools string) Preset {
	return Preset{
		Name: name, Risk: messages.RiskNormal, Contexts: []Pattern{{FactSurface: name}}, ToolIDs: strings.Split(tools, ""), Prompt: "use " + name,
	}
}

func activeNames(m *Manager, session messages.SessionID) string {
	var names []string
	for _, active := range m.Resolve(session).Presets {
		names = append(names, active.Name+":"+string(active.Cause))
	}
	return strings.Join(names, " ")
}

// Checklist 42 and 43.
func TestResolve(t *testing.T) {
	t.Parallel()
	off := preset("off", "c")
	off.Default, off.Contexts = DefaultOff, []Pattern{{}}
	either := preset("either", "d")
	either.Contexts = []Pattern{{FactSurface: "x"}, {FactSurface: "y", FactActivity: None}}
	for _, test := range []struct {
		name      string
		context   Context
		overrides map[string]Override
		want      string
	}{
		{"no context matches", Context{Surface: "z"}, nil, ""},
		{"one context", Context{Surface: "one"}, nil, "one:context"},
		{"first of two patterns", Context{Surface: "x"}, nil, "either:context"},
		{"second of two patterns", Context{Surface: "y"}, nil, "either:context"},
		{"none does not match an activity", Context{Surface: "y", Activity: "drawing"}, nil, ""},
		{"on beats context", Context{Surface: "z"}, map[string]Override{"one": OverrideOn}, "one:override"},
		{"on beats default off", Context{Surface: "z"}, map[string]Override{"off": OverrideOn}, "off:override"},
		{"off beats context", Context{Surface: "one"}, map[string]Override{"one": OverrideOff}, ""},
		{"auto leaves it to the context", Context{Surface: "one"}, map[string]Override{"one": OverrideAuto}, "one:context"},
		{"auto leaves default off", Context{Surface: "z"}, map[string]Override{"off": OverrideAuto}, ""},
		{"order of registration", Context{Surface: "x"}, map[string]Override{"off": OverrideOn, "one": OverrideOn}, "one:override off:override either:context"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := setupManager(t, &ManagerOptions{Context: test.context})
			for _, p := range []Preset{preset("one", "ab"), off, either} {
				must(t, m.RegisterPreset(p))
			}
			for name, override := range test.overrides {
				must(t, m.SetOverride(t.Context(), "", name, override))
			}
			if got := activeNames(m.Manager, ""); got != test.want {
				t.Errorf("active = %q, want %q", got, test.want)
			}
		})
	}
}

func TestResolutionContents(t *testing.T) {
	t.Parallel()
	m := setupManager(t, &ManagerOptions{Context: Context{Surface: "one"}})
	must(t, m.RegisterPreset(preset("one", "ba")))
	silent := preset("two", "d")
	silent.Prompt, silent.Contexts, silent.Risk, silent.Group = "", []Pattern{{}}, messages.RiskShell, "g"
	must(t, m.RegisterPreset(silent))
	got := m.Resolve("")
	want := Resolution{
		Presets: []ActivePreset{
			{Name: "one", Risk: messages.RiskNormal, Cause: CauseContext},
			{Name: "two", Group: "g", Risk: messages.RiskShell, Cause: CauseContext},
		},
		Fragments: []Fragment{{Preset: "one", Prompt: "use one"}},
	}
	schema := json.RawMessage(`{"type":"object"}`)
	for _, tool := range []Tool{{ID: "b", Preset: "one", Risk: messages.RiskNormal}, {ID: "a", Preset: "one", Risk: messages.RiskNormal}, {ID: "d", Preset: "two", Risk: messages.RiskShell}} {
		tool.Name, tool.Description, tool.InputSchema = ToolPrefix+tool.ID, "Does it.", schema
		want.Tools = append(want.Tools, tool)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Resolve() differs (-want +got):\n%s", diff)
	}
}

// Checklist 44: refused changes name the fault and leave everything as it was. W27.
func TestRefusedChanges(t *testing.T) {
	t.Parallel()
	twin := goodAdapter("twin", ToolPrefix+"a") // The external name of "a".
	for _, test := range []struct {
		name   string
		change func(context.Context, *Manager) error
		want   error
		names  string
	}{
		{"a preset twice", func(_ context.Context, m *Manager) error { return m.RegisterPreset(preset("one", "c")) }, ErrExists, "one"},
		{"a bad preset", func(_ context.Context, m *Manager) error { return m.RegisterPreset(Preset{Name: "bad"}) }, ErrInvalid, "bad"},
		{"a preset of an unknown tool", func(_ context.Context, m *Manager) error { return m.RegisterPreset(preset("new", "z")) }, ErrUnknownAdapter, "z"},
		{"an unknown preset goes", func(_ context.Context, m *Manager) error { return m.UnregisterPreset("nope") }, ErrUnknownPreset, "nope"},
		{"an adapter twice", func(_ context.Context, m *Manager) error { return m.RegisterAdapter(goodAdapter("a", "space_new")) }, ErrExists, "a"},
		{"a bad adapter", func(_ context.Context, m *Manager) error { return m.RegisterAdapter(Adapter{ID: "bad"}) }, ErrInvalid, "bad"},
		{"an unknown adapter goes", func(_ context.Context, m *Manager) error { return m.UnregisterAdapter("z") }, ErrUnknownAdapter, "z"},
		{"an adapter goes that is in use", func(_ context.Context, m *Manager) error { return m.UnregisterAdapter("a") }, ErrInUse, "one"},
		{"an override of an unknown preset", func(ctx context.Context, m *Manager) error { return m.SetOverride(ctx, "", "nope", OverrideOn) }, ErrUnknownPreset, "nope"},
		{"an unknown override", func(ctx context.Context, m *Manager) error { return m.SetOverride(ctx, "", "one", "maybe") }, ErrInvalid, "maybe"},
		{"a bad context", func(_ context.Context, m *Manager) error { return m.SetContext("", Context{}) }, ErrInvalid, "surface"},
		// Checklist 45.
		{"two active presets with one tool", func(ctx context.Context, m *Manager) error { return m.SetOverride(ctx, "", "two", OverrideOn) }, ErrConflict, `"one" and "two"`},
		{"the same, in one session", func(ctx context.Context, m *Manager) error { return m.SetOverride(ctx, "s1", "two", OverrideOn) }, ErrConflict, `"s1"`},
		{"two active tools with one name", func(ctx context.Context, m *Manager) error { return m.SetOverride(ctx, "", "twins", OverrideOn) }, ErrConflict, `"a" and "twin"`},
		{"a preset that would clash at once", func(_ context.Context, m *Manager) error {
			clash := preset("clash", "a")
			clash.Contexts = []Pattern{{}}
			return m.RegisterPreset(clash)
		}, ErrConflict, "clash"},
		{"a context in which two clash", func(_ context.Context, m *Manager) error { return m.SetContext("", Context{Surface: "both"}) }, ErrConflict, `"a"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := setupManager(t, &ManagerOptions{Context: Context{Surface: "one"}})
			must(t, m.RegisterAdapter(twin))
			one, two := preset("one", "ab"), preset("two", "ac")
			one.Contexts, two.Contexts = append(one.Contexts, Pattern{FactSurface: "both"}), append(two.Contexts, Pattern{FactSurface: "both"})
			twins := preset("twins", "x")
			twins.ToolIDs = []string{"twin"}
			for _, p := range []Preset{one, two, twins} {
				must(t, m.RegisterPreset(p))
			}
			m.changes = nil
			before, presets := m.Resolve(""), m.Presets()
			err := test.change(t.Context(), m.Manager)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.names) {
				t.Errorf("error = %v, want %v naming %s", err, test.want, test.names)
			}
			if diff := cmp.Diff(before, m.Resolve("")) + cmp.Diff(presets, m.Presets()) + cmp.Diff(Overrides{}, m.Overrides()); diff != "" || len(m.changes) > 0 {
				t.Errorf("the refused change had an effect (%d events):\n%s", len(m.changes), diff)
			}
			must(t, m.SetOverride(t.Context(), "", "one", OverrideOff)) // And it goes on working.
			must(t, m.SetOverride(t.Context(), "", "two", OverrideOn))
		})
	}
}

// Checklist 46.
func TestChangeEvents(t *testing.T) {
	t.Parallel()
	m := setupManager(t, &ManagerOptions{Context: Context{Surface: "one"}})
	want := func(doing string, changes ...Change) {
		t.Helper()
		if diff := cmp.Diff(changes, m.changes); diff != "" {
			t.Errorf("%s: events differ (-want +got):\n%s", doing, diff)
		}
		m.changes = nil
	}
	global := Change{Global: true}
	must(t, m.RegisterPreset(preset("one", "a")))
	want("registering an active preset", global)
	must(t, m.RegisterPreset(preset("two", "b")))
	want("registering an inactive preset")
	must(t, m.SetContext("", Context{Surface: "one"}))
	want("the same context")
	must(t, m.SetContext("", Context{Surface: "one", Activity: "x"}))
	want("a context without effect")
	must(t, m.SetContext("", Context{Surface: "two"}))
	want("a context with effect", global)
	must(t, m.SetOverride(t.Context(), "", "two", OverrideAuto))
	want("auto where nothing was set")
	must(t, m.SetOverride(t.Context(), "", "two", OverrideOff))
	want("off", global)
	must(t, m.SetOverride(t.Context(), "", "two", OverrideOff))
	want("off again")
	must(t, m.SetOverride(t.Context(), "s1", "two", OverrideOn))
	want("on for one session", Change{Sessions: []messages.SessionID{"s1"}})
	must(t, m.ResetOverrides(t.Context(), ""))
	want("resetting what a session overrides", global)
	must(t, m.Forget(t.Context(), "s1"))
	want("forgetting the session", Change{Sessions: []messages.SessionID{"s1"}})
	must(t, m.Forget(t.Context(), "s1"))
	want("forgetting it again")
	must(t, m.UnregisterPreset("two"))
	want("unregistering an active preset", global)
}

// W27, W29: a listener that panics or changes something hurts nobody, and the order of events is that of the changes.
func TestListeners(t *testing.T) {
	t.Parallel()
	m := setupManager(t, &ManagerOptions{Context: Context{Surface: "elsewhere"}})
	must(t, m.RegisterPreset(preset("one", "a")))
	var heard []string
	note := func(who string) { heard = append(heard, who+"="+activeNames(m.Manager, "")) }
	m.OnChange(func(Change) { panic("listener") })
	remove := m.OnChange(func(Change) {
		note("first")
		if activeNames(m.Manager, "") != "" {
			must(t, m.SetContext("", Context{Surface: "elsewhere"}))
		}
	})
	m.OnChange(func(Change) { note("second") })
	must(t, m.SetContext("", Context{Surface: "one"}))
	want := []string{"first=one:context", "second=", "first=", "second="}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	remove()
	remove()
	heard = nil
	must(t, m.SetContext("", Context{Surface: "one"}))
	if diff := cmp.Diff([]string{"second=one:context"}, heard); diff != "" {
		t.Errorf("after removing, heard (-want +got):\n%s", diff)
	}
}

// Checklist 47.
func TestDefensiveCopies(t *testing.T) {
	t.Parallel()
	m := setupManager(t, &ManagerOptions{Context: Context{Surface: "one", Facts: map[string]string{"f": "1"}}})
	mine := preset("one", "ab")
	must(t, m.RegisterPreset(mine))
	must(t, m.SetOverride(t.Context(), "s1", "one", OverrideOff))
	before := fmt.Sprint(m.Presets(), m.Resolve(""), m.Context(""), m.Overrides(), m.List(""))
	mine.ToolIDs[0], mine.Contexts[0][FactSurface] = "z", "z"
	m.Presets()[0].ToolIDs[0] = "z"
	m.Presets()[0].Contexts[0][FactSurface] = "z"
	m.Resolve("").Tools[0] = Tool{}
	m.Resolve("").Presets[0] = ActivePreset{}
	m.Resolve("").Fragments[0] = Fragment{}
	m.Context("").Facts["f"] = "2"
	m.Overrides().Sessions["s1"]["one"] = OverrideOn
	m.List("")[0].Preset.ToolIDs[0] = "z"
	if after := fmt.Sprint(m.Presets(), m.Resolve(""), m.Context(""), m.Overrides(), m.List("")); after != before {
		t.Errorf("the state changed from\n%s to\n%s", before, after)
	}
}

// Two sessions at once with different presets never see each other's.
func TestSessionsOfTheirOwn(t *testing.T) {
	t.Parallel()
	m := setupManager(t, &ManagerOptions{Context: Context{Surface: "elsewhere"}})
	must(t, m.RegisterPreset(preset("one", "a")))
	must(t, m.RegisterPreset(preset("two", "a")))
	must(t, m.SetOverride(t.Context(), "s1", "one", OverrideOn))
	must(t, m.SetContext("s2", Context{Surface: "two"}))
	for session, want := range map[messages.SessionID]string{"": "", "s1": "one:override", "s2": "two:context", "s3": ""} {
		if got := activeNames(m.Manager, session); got != want {
			t.Errorf("session %q: active = %q, want %q", session, got, want)
		}
	}
	if got := m.List("s1")[0]; !got.Active || got.Override != OverrideOn || got.Cause != CauseOverride {
		t.Errorf("List(s1)[0] = %+v", got)
	}
	must(t, m.SetOverride(t.Context(), "", "one", OverrideOff))
	if got := activeNames(m.Manager, "s1"); got != "one:override" {
		t.Errorf("a global override beat the session's own: %q", got)
	}
	must(t, m.Forget(t.Context(), "s1"))
	must(t, m.Forget(t.Context(), "s2"))
	if got := activeNames(m.Manager, "s1") + activeNames(m.Manager, "s2"); got != "" {
		t.Errorf("after Forget: %q", got)
	}
}

// A preset cannot call a risky tool normal.
func TestStrictestRiskWins(t *testing.T) {
	t.Parallel()
	m := setupManager(t, &ManagerOptions{Context: Context{Surface: "mild"}})
	must(t, m.RegisterPreset(preset("mild", "ab")))
	strict := preset("strict", "a") // It is not active.
	strict.Risk = messages.RiskShell
	must(t, m.RegisterPreset(strict))
	floor := goodAdapter("floor", "space_floor")
	floor.Risk = messages.RiskDestructive
	must(t, m.RegisterAdapter(floor))
	low := preset("low", "x")
	low.ToolIDs, low.Contexts = []string{"floor"}, []Pattern{{}}
	must(t, m.RegisterPreset(low))
	want := map[string]messages.Risk{"a": messages.RiskShell, "b": messages.RiskNormal, "floor": messages.RiskDestructive}
	got := map[string]messages.Risk{}
	for _, tool := range m.Resolve("").Tools {
		got[tool.ID] = tool.Risk
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("risks (-want +got):\n%s", diff)
	}
}

// fakeStore is an [OverrideStore] in memory that can fail.
type fakeStore struct {
	text []byte
	err  error
}

func (s *fakeStore) Load(context.Context) (Overrides, error) {
	if s.err != nil || s.text == nil {
		return Overrides{}, s.err
	}
	return DecodeOverrides(s.text)
}

func (s *fakeStore) Save(_ context.Context, overrides Overrides) error {
	if s.err != nil {
		return s.err
	}
	var err error
	s.text, err = EncodeOverrides(overrides)
	return err
}

func TestOverridesAreStored(t *testing.T) {
	t.Parallel()
	store := &fakeStore{}
	start := func() *managerBundle {
		m := setupManager(t, &ManagerOptions{Context: Context{Surface: "elsewhere"}, Store: store})
		must(t, m.RegisterPreset(preset("one", "a")))
		must(t, m.RegisterPreset(preset("two", "b")))
		return m
	}
	m := start()
	must(t, m.Load(t.Context()))
	must(t, m.SetOverride(t.Context(), "", "one", OverrideOn))
	must(t, m.SetOverride(t.Context(), "s1", "two", OverrideOn))

	store.err = errors.New("disk full")
	if err := m.SetOverride(t.Context(), "", "two", OverrideOn); !errors.Is(err, store.err) {
		t.Errorf("SetOverride on a full disk = %v, want %v", err, store.err)
	}
	if got := activeNames(m.Manager, ""); got != "one:override" {
		t.Errorf("what was not stored had an effect: %q", got)
	}
	if err := start().Load(t.Context()); !errors.Is(err, store.err) {
		t.Errorf("Load = %v, want %v", err, store.err)
	}
	store.err = nil

	again := start()
	must(t, again.Load(t.Context()))
	if got := activeNames(again.Manager, "") + " " + activeNames(again.Manager, "s1"); got != "one:override one:override two:override" {
		t.Errorf("after a restart: %q", got)
	}
	must(t, again.Forget(t.Context(), "s1"))
	must(t, again.ResetOverrides(t.Context(), ""))
	if got, err := DecodeOverrides(store.text); err != nil || len(got.Global)+len(got.Sessions) != 0 {
		t.Errorf("stored after resetting: %+v, %v", got, err)
	}
}

func TestStoredDocuments(t *testing.T) {
	t.Parallel()
	grants := func(text string) error { _, err := DecodeGrants([]byte(text)); return err }
	overrides := func(text string) error { _, err := DecodeOverrides([]byte(text)); return err }
	for _, test := range []struct {
		name   string
		decode func(string) error
		text   string
		want   error
	}{
		{"overrides", overrides, `{"schema":"agentd.preset-overrides/1","global":{"a":"on"}}`, nil},
		{"overrides of another version", overrides, `{"schema":"agentd.preset-overrides/2"}`, ErrSchema},
		{"overrides without a version", overrides, `{}`, ErrSchema},
		{"an override that is none", overrides, `{"schema":"agentd.preset-overrides/1","sessions":{"s":{"a":"x"}}}`, ErrInvalid},
		{"grants", grants, `{"schema":"agentd.grants/1","grants":[{"id":"g","tool-id":"t","risk":"shell","fingerprint":"f"}]}`, nil},
		{"grants of another version", grants, `{"schema":"agentd.grants/9","grants":[]}`, ErrSchema},
		{"a grant without a fingerprint", grants, `{"schema":"agentd.grants/1","grants":[{"id":"g","tool-id":"t","risk":"shell"}]}`, ErrInvalid},
		{"a grant of an unknown risk", grants, `{"schema":"agentd.grants/1","grants":[{"id":"g","tool-id":"t","risk":"x","fingerprint":"f"}]}`, ErrInvalid},
		{"a grant twice", grants, `{"schema":"agentd.grants/1","grants":[{"id":"g","tool-id":"t","risk":"shell","fingerprint":"f"},{"id":"g","tool-id":"t","risk":"shell","fingerprint":"f"}]}`, ErrInvalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if err := test.decode(test.text); !errors.Is(err, test.want) {
				t.Errorf("decoding = %v, want %v", err, test.want)
			}
		})
	}
	for _, text := range []string{"", "{", "[]", "null", `{"schema":1}`} {
		if grants(text) == nil || overrides(text) == nil {
			t.Errorf("%q was decoded", text)
		}
	}
}

func TestManagerIsSafeForManyGoroutines(t *testing.T) {
	t.Parallel()
	m := setupManager(t, nil)
	must(t, m.RegisterPreset(preset("one", "a")))
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			session := messages.SessionID(fmt.Sprint("s", i%3))
			for range 100 {
				_ = m.SetOverride(context.Background(), session, "one", OverrideOn)
				_ = m.SetContext("", Context{Surface: fmt.Sprint("s", i)})
				m.Resolve(session)
				m.List(session)
				_ = m.Forget(context.Background(), session)
				m.OnChange(func(Change) {})()
			}
		})
	}
	group.Wait()
}
