package memory_test

import (
	"testing"

	"agentd/persistence"
	"agentd/persistence/memory"
	"agentd/testkit/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(testing.TB) *storetest.Backend {
		return &storetest.Backend{Open: func() (persistence.Store, error) { return memory.New(), nil }}
	})
}
