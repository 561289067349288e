package bounded_test

import (
	"testing"

	"agentd/providers/catalog/bounded"
)

func TestFilePath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ uri, want string }{
		{"file:///work/my%20notes", "/work/my notes"},
		{"file://localhost/work", "/work"},
		{"file:///C:/Users/dev", "C:/Users/dev"},
		{"file://server/share", ""},
		{"https://example.org/work", ""},
		{"/work", ""},
		{"file://%zz", ""},
		{"", ""},
	} {
		if got := bounded.FilePath(tt.uri); got != tt.want {
			t.Errorf("FilePath(%q) = %q, want %q", tt.uri, got, tt.want)
		}
	}
}
