package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTryWritingLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := tryWriting(dir); err != nil {
		t.Errorf("tryWriting(a folder) = %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	if err := tryWriting(filepath.Join(dir, "none")); err == nil {
		t.Error("tryWriting(no folder) = nil, want an error")
	}
}

func TestMendWritingFitsTheCause(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("open: %w", fs.ErrPermission), "writable"},
		{errors.New("write: no space left on device"), "make room"},
	} {
		if got := mendWriting(test.err, "d"); !strings.Contains(got, test.want) {
			t.Errorf("mendWriting(%v) = %q, want it to hold %q", test.err, got, test.want)
		}
	}
}
