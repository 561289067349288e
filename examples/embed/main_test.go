package main

import (
	"bytes"
	"os"
	"testing"
)

func TestEmbed(t *testing.T) {
	t.Chdir(t.TempDir())
	for range 2 { // The second run finds the data directory of the first.
		var out bytes.Buffer
		if err := run(t.Context(), "hello", &out); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), "completed HELLO\n"; got != want {
			t.Errorf("run(hello) wrote %q, want %q", got, want)
		}
	}
	if _, err := os.Stat("embed-data/agent-sessions"); err != nil {
		t.Error(err)
	}
}
