package actors_test

import (
	"os"
	"testing"

	"agentd/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
