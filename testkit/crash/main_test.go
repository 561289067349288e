package crash

import (
	"os"
	"testing"

	"agentd/testkit"
)

// childEnv holds the orders of a child process. The test binary that has it is one.
const childEnv = "AGENTD_CRASH_CHILD"

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(childEnv); ok {
		os.Exit(childMain(text))
	}
	os.Exit(testkit.Main(m))
}
