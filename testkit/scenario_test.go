package testkit_test

import (
	"os"
	"testing"

	"agentd/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

func TestScenarios(t *testing.T) {
	t.Parallel()
	testkit.RunScenarios(t, "testdata/scenarios")
}
