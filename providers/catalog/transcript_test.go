package catalog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

func TestLineRecords(t *testing.T) {
	t.Parallel()
	const text = "{\"say\":\"one\"}\n{\"say\":[\"two\",\"three\"]}\nnonsense\n{\"say\":\"four\"}\n"
	decode := func(line bounded.Line) []catalog.Record {
		var out []catalog.Record
		say := bounded.Pick(line.Data, "say")
		if say.IsString() {
			return []catalog.Record{{Text: say.Text(99)}}
		}
		for v := range bounded.Elements(say.Raw) {
			out = append(out, catalog.Record{Text: v.Text(99)})
		}
		return out
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		words []string
		want  []catalog.Record
	}{
		{"all", nil, []catalog.Record{{Text: "one", Cite: "@0"}, {Text: "two", Cite: "@14#0"}, {Text: "three", Cite: "@14#1"}, {Text: "four", Cite: "@47"}}},
		{"of words", []string{"four", "one"}, []catalog.Record{{Text: "one", Cite: "@0"}, {Text: "four", Cite: "@47"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, backward := range []bool{false, true} {
				req := catalog.ContentRequest{NewestFirst: backward, Words: tt.words}
				want := slices.Clone(tt.want)
				if backward {
					slices.Reverse(want)
				}
				var fromFile, fromStream []catalog.Record
				for rec, err := range catalog.LineRecords(t.Context(), req, path, decode) {
					if err != nil {
						t.Fatal(err)
					}
					fromFile = append(fromFile, rec)
				}
				for rec, err := range catalog.StreamRecords(t.Context(), req, bytes.NewReader([]byte(text)), decode) {
					if err != nil {
						t.Fatal(err)
					}
					fromStream = append(fromStream, rec)
				}
				if diff := cmp.Diff(want, fromFile); diff != "" {
					t.Errorf("LineRecords, newest first %v (-want +got):\n%s", backward, diff)
				}
				if diff := cmp.Diff(want, fromStream); diff != "" {
					t.Errorf("StreamRecords, newest first %v (-want +got):\n%s", backward, diff)
				}
			}
		})
	}
}

func TestSaid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, want string }{
		{"a text", `"plain"`, "plain"},
		{"blocks", `[{"type":"text","text":"a"},{"type":"image"},"b",{"type":"result","content":[{"text":"c"}]}]`, "a\nb\nc"},
		{"one block", `{"text":"a","content":"b"}`, "a"},
		{"nothing", `null`, ""},
		{"too deep", `[[[[[[["a"]]]]]]]`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := catalog.Said(bounded.Value{Raw: []byte(tt.value)}); got != tt.want {
				t.Errorf("Said(%s) = %q, want %q", tt.value, got, tt.want)
			}
		})
	}
}
