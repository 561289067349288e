package drawing_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/presets/builtin/bundletest"
	"agentd/presets/builtin/drawing"
)

const (
	insert = "space_drawing_insert_shape"
	update = "space_drawing_update_shape"
	list   = "space_drawing_list_shapes"
	remove = "space_drawing_remove_shape"
	export = "space_drawing_export"
)

// elements returns the names of the elements of a valid SVG, without the frame.
func elements(t *testing.T, bench *bundletest.Bench, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(bench.ArtifactDir, file))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return names[min(3, len(names)):] // svg, metadata, background
		}
		if err != nil {
			t.Fatalf("%s is not valid XML: %v\n%s", file, err, text)
		}
		if start, is := token.(xml.StartElement); is {
			if start.Name.Space != "http://www.w3.org/2000/svg" {
				t.Fatalf("element %v is not SVG", start.Name)
			}
			names = append(names, start.Name.Local)
		}
	}
}

// The seed's own call.
func TestSeedCall(t *testing.T) {
	t.Parallel()
	bench := bundletest.New(t, drawing.New())
	got := bench.Good(insert, `{"shape":"circle","color":"#ff0000"}`)
	want := map[string]any{
		"ok": true, "id": "shape-1", "shape": "circle", "color": "#ff0000", "x": 256.0, "y": 256.0, "width": 100.0, "height": 100.0,
		"opacity": 1.0, "count": 1.0, "file": filepath.Join(bench.ArtifactDir, drawing.CanvasFile),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(filepath.Join(bench.ArtifactDir, drawing.CanvasFile))
	if err != nil {
		t.Fatal(err)
	}
	if want := `<circle id="shape-1" fill="#ff0000" cx="256" cy="256" r="50"/>`; !strings.Contains(string(text), want) {
		t.Errorf("the canvas does not hold %s:\n%s", want, text)
	}
}

func TestShapes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, arguments, want string }{
		{"circle by size", `{"shape":"circle","size":40,"x":10,"y":20.5}`, `<circle id="shape-1" fill="#1f77b4" cx="10" cy="20.5" r="20"/>`},
		{"circle by height", `{"shape":"circle","height":40}`, ` r="20"/>`},
		{"ellipse", `{"shape":"ellipse","width":80,"height":20}`, ` rx="40" ry="10"/>`},
		{"square", `{"shape":"square","width":30}`, ` x="241" y="241" width="30" height="30"/>`},
		{"rectangle keeps its proportions", `{"shape":"rectangle","size":200}`, ` width="200" height="125"/>`},
		{"triangle", `{"shape":"triangle"}`, `<polygon id="shape-1" fill="#1f77b4" points="256 206 306 306 206 306"/>`},
		{"star", `{"shape":"star"}`, ` points="256 206 267.227 240.548`},
		{"line", `{"shape":"line","color":"blue"}`, ` stroke="blue" stroke-linecap="round" stroke-width="4" x1="206" y1="256" x2="306" y2="256"/>`},
		{"text is escaped", `{"shape":"text","text":"</text><script>&\"'"}`, `&lt;/text&gt;&lt;script&gt;&amp;&#34;&#39;</text>`},
		{"text size", `{"shape":"text","size":12}`, ` font-size="12"`},
		{"rotation and opacity", `{"shape":"square","rotation":45,"opacity":0.5}`, ` opacity="0.5" transform="rotate(45 256 256)"`},
		{"outline", `{"shape":"circle","stroke":"black"}`, ` stroke="black" stroke-width="4"`},
		{"tiny numbers have no exponent", `{"shape":"circle","x":1e-7,"y":-1e-7}`, ` cx="0" cy="0"`},
		{"control characters", `{"shape":"text","text":"a\u0000b\u001bc"}`, `>a` + "\uFFFD" + `b` + "\uFFFD" + `c</text>`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			bench := bundletest.New(t, drawing.New())
			bench.Good(insert, test.arguments)
			if got := elements(t, bench, drawing.CanvasFile); len(got) != 1 {
				t.Errorf("elements = %v, want one", got)
			}
			text, err := os.ReadFile(filepath.Join(bench.ArtifactDir, drawing.CanvasFile))
			if err != nil || !strings.Contains(string(text), test.want) {
				t.Errorf("the canvas does not hold %s: %v\n%s", test.want, err, text)
			}
			if got := bench.Good(list, `{}`); got["count"] != 1.0 { // It can be read again.
				t.Errorf("list = %v", got)
			}
		})
	}
}

func TestRefusedShapes(t *testing.T) {
	t.Parallel()
	bench := bundletest.New(t, drawing.New())
	bench.Good(insert, `{"shape":"circle"}`)
	before := bench.Good(list, `{}`)
	for _, test := range []struct{ tool, arguments, want string }{
		{insert, `{}`, "shape"},
		{insert, `{"shape":"blob"}`, "invalid arguments"},
		{insert, `{"shape":"circle","color":"reddish"}`, "CSS colour"},
		{insert, `{"shape":"circle","color":""}`, "CSS colour"},
		{insert, `{"shape":"circle","color":"#12345"}`, "CSS colour"},
		{insert, `{"shape":"circle","color":"url(#x)"}`, "CSS colour"},
		{insert, `{"shape":"circle","stroke":"red\" onload=\"x"}`, "CSS colour"},
		{insert, `{"shape":"circle","x":1e6}`, "x is 1e+06"},
		{insert, `{"shape":"circle","size":-1}`, "invalid arguments"},
		{insert, `{"shape":"circle","opacity":2}`, "invalid arguments"},
		{insert, `{"shape":"text","text":" "}`, "empty"},
		{insert, `{"shape":"circle","unknown":1}`, "invalid arguments"},
		{update, `{"id":"shape-9","x":1}`, "shape-9"},
		{update, `{"id":"shape-1","color":"nope"}`, "CSS colour"},
		{update, `{"x":1}`, "invalid arguments"},
		{remove, `{"id":"shape-9"}`, "shape-9"},
		{export, `{"name":"../x"}`, "letters, digits"},
		{export, `{"name":"a/b"}`, "letters, digits"},
	} {
		bench.Bad(test.tool, test.arguments, test.want)
	}
	if diff := cmp.Diff(before, bench.Good(list, `{}`)); diff != "" {
		t.Errorf("a refused call changed the canvas:\n%s", diff)
	}
}

// Ids are deterministic and never used again.
func TestUpdateAndRemove(t *testing.T) {
	t.Parallel()
	bench := bundletest.New(t, drawing.New())
	for i := range 3 {
		if got := bench.Good(insert, `{"shape":"square"}`)["id"]; got != fmt.Sprint("shape-", i+1) {
			t.Errorf("id = %v, want shape-%d", got, i+1)
		}
	}
	got := bench.Good(update, `{"id":"shape-2","shape":"star","color":"gold","size":50}`)
	if got["shape"] != "star" || got["color"] != "gold" || got["width"] != 50.0 || got["x"] != 256.0 {
		t.Errorf("updated = %v", got)
	}
	bench.Good(update, `{"id":"shape-1","shape":"line"}`)
	if got := bench.Good(remove, `{"id":"shape-3"}`)["count"]; got != 2.0 {
		t.Errorf("count = %v, want 2", got)
	}
	if got := bench.Good(insert, `{"shape":"circle"}`)["id"]; got != "shape-4" {
		t.Errorf("id = %v, want shape-4", got)
	}
	if diff := cmp.Diff([]string{"line", "polygon", "circle"}, elements(t, bench, drawing.CanvasFile)); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
}

func TestListAndExportOfNothing(t *testing.T) {
	t.Parallel()
	bench := bundletest.New(t, drawing.New())
	if got := bench.Good(list, ``); got["count"] != 0.0 {
		t.Errorf("list = %v", got)
	}
	if _, err := os.Stat(bench.ArtifactDir); err == nil {
		t.Error("listing made the artifact folder")
	}
	got := bench.Good(export, `{"name":"empty","include_source":true}`)
	if svg, _ := got["svg"].(string); !strings.HasPrefix(svg, "<?xml") {
		t.Errorf("export = %v", got)
	}
	if got := elements(t, bench, filepath.Join("exports", "empty.svg")); len(got) != 0 {
		t.Errorf("elements = %v", got)
	}
	bench.ArtifactDir = ""
	bench.Bad(insert, `{"shape":"circle"}`, "no folder is configured")
	bench.Bad(list, `{}`, "no folder is configured")
}

// A file that is not ours is refused and left untouched.
func TestForeignCanvas(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":           "",
		"not XML":         "<svg",
		"no metadata":     `<svg xmlns="http://www.w3.org/2000/svg"/>`,
		"foreign JSON":    `<svg><metadata id="agentd-canvas">[]</metadata></svg>`,
		"another version": `<svg><metadata id="agentd-canvas">{"schema":"agentd.canvas/9","next":1}</metadata></svg>`,
		"bad shape":       `<svg><metadata id="agentd-canvas">{"schema":"agentd.canvas/1","next":2,"shapes":[{"id":"a","shape":"blob"}]}</metadata></svg>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bench := bundletest.New(t, drawing.New())
			if err := os.MkdirAll(bench.ArtifactDir, 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(bench.ArtifactDir, drawing.CanvasFile)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			bench.Bad(insert, `{"shape":"circle"}`, "left untouched")
			if got, err := os.ReadFile(file); err != nil || string(got) != text {
				t.Errorf("the file is now %q, %v", got, err)
			}
		})
	}
}

// Calls of one session at the same time: none is lost.
func TestParallelInserts(t *testing.T) {
	t.Parallel()
	bench := bundletest.New(t, drawing.New())
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if result := bench.Call(t.Context(), insert, `{"shape":"circle"}`); result.IsError {
				t.Errorf("insert = %s", result.Text)
			}
		})
	}
	group.Wait()
	if got := bench.Good(list, `{}`)["count"]; got != 16.0 {
		t.Errorf("count = %v, want 16", got)
	}
	entries, err := os.ReadDir(bench.ArtifactDir)
	if err != nil || len(entries) != 1 {
		t.Errorf("files left: %v, %v", entries, err)
	}
}

func BenchmarkInsert(b *testing.B) {
	bench := bundletest.New(b, drawing.New())
	for b.Loop() {
		bench.Good(insert, `{"shape":"circle","color":"#ff0000"}`)
		bench.Good(remove, fmt.Sprintf(`{"id":%q}`, bench.Good(list, `{}`)["shapes"].([]any)[0].(map[string]any)["id"]))
	}
}
