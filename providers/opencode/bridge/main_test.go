package bridge_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary play the OpenCode executable, see fakeserver_test.go.
func TestMain(m *testing.M) {
	if mode := os.Getenv(fakeEnv); mode != "" {
		os.Exit(playServer(mode))
	}
	goleak.VerifyTestMain(m)
}
