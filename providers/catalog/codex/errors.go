package codex

import (
	"errors"
	"fmt"

	"agentd/providers/catalog/bounded"
)

// errDamaged says that a compressed rollout cannot be unpacked.
func errDamaged(path string, cause error) error {
	return fmt.Errorf("unpacking %q: %w", path, errors.Join(bounded.ErrCorrupt, cause))
}
