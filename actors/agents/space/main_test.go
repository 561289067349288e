package space

import (
	"os"
	"testing"

	"agentd/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
