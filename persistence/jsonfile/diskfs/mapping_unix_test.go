//go:build unix

package diskfs_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"agentd/persistence/jsonfile/diskfs"
)

func mapped(t *testing.T, content []byte) (string, *diskfs.Mapping) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := diskfs.OS{}.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	mapping, err := file.(diskfs.Mapper).Map(int64(len(content))) //nolint:forcetypeassert // It is what is tested.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mapping.Close(); err != nil {
			t.Error(err)
		}
	})
	return path, mapping
}

func TestMappingReads(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	_, mapping := mapped(t, content)
	for _, tc := range []struct {
		name      string
		off       int64
		size, got int
		err       error
	}{
		{"the beginning", 0, 100, 100, nil},
		{"across pages", 4090, 5000, 5000, nil},
		{"up to the end", int64(len(content)) - 10, 10, 10, nil},
		{"over the end", int64(len(content)) - 10, 11, 10, io.EOF},
		{"behind the end", int64(len(content)), 1, 0, io.EOF},
	} {
		p := make([]byte, tc.size)
		n, err := mapping.ReadAt(p, tc.off)
		if n != tc.got || !errors.Is(err, tc.err) || !bytes.Equal(p[:n], content[tc.off:tc.off+int64(n)]) {
			t.Errorf("ReadAt(%s) = %d, %v, want %d, %v", tc.name, n, err, tc.got, tc.err)
		}
	}
	for _, off := range []int64{-1, int64(len(content)) + 1} {
		if _, err := mapping.ReadAt(make([]byte, 1), off); err == nil {
			t.Errorf("ReadAt(%d) = nil, want an error", off)
		}
	}
}

// A disk that fails under a mapping is an error, not the end of the process. A file that is cut is such a one.
func TestMappingSurvivesACutFile(t *testing.T) {
	t.Parallel()
	path, mapping := mapped(t, make([]byte, 1<<20))
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	if n, err := mapping.ReadAt(make([]byte, 100), 1<<19); err == nil || n != 0 {
		t.Errorf("ReadAt(cut off) = %d, %v, want an error", n, err)
	}
	if n, err := mapping.ReadAt(make([]byte, 100), 0); err != nil || n != 100 {
		t.Errorf("ReadAt(still there) = %d, %v, want 100", n, err)
	}
}
