package drawing

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzCanvas: whatever is accepted makes a valid document of one shape that says the same when it is read again.
func FuzzCanvas(f *testing.F) {
	f.Add("circle", "#ff0000", 1.5, 2.5, "text")
	f.Add("text", "red", -1e5, 1e-9, "</text>\x00\uFFFE&")
	f.Add("star", "teal", 0.0, 1e5, "]]>")
	f.Fuzz(func(t *testing.T, kind, color string, x, size float64, text string) {
		c := emptyCanvas()
		if _, err := c.insert(fields{Kind: &kind, Color: &color, Stroke: &color, X: &x, Size: &size, Rotation: &x, Text: &text}); err != nil {
			return
		}
		svg, err := encodeCanvas(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := countElements(t, svg); got != 4 { // The frame, the metadata, the background, the shape.
			t.Fatalf("%d elements, want 4:\n%s", got, svg)
		}
		again, err := decodeCanvas(svg)
		if err != nil {
			t.Fatalf("%v:\n%s", err, svg)
		}
		second, err := encodeCanvas(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(svg), string(second)); diff != "" {
			t.Fatalf("it changes when it is read again (-first +second):\n%s", diff)
		}
	})
}

func countElements(t *testing.T, svg []byte) int {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	count := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("not valid XML: %v\n%s", err, svg)
		}
		if _, is := token.(xml.StartElement); is {
			count++
		}
	}
}

// FuzzDecodeCanvas: no file makes it panic.
func FuzzDecodeCanvas(f *testing.F) {
	svg, err := encodeCanvas(emptyCanvas())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(svg)
	f.Add([]byte(`<svg><metadata id="agentd-canvas">{"schema":"agentd.canvas/1","next":1}</metadata></svg>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, err := decodeCanvas(text); err == nil && (c == nil || c.Next < 1) {
			t.Fatalf("decoded %+v", c)
		}
	})
}
