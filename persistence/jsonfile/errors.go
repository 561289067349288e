package jsonfile

import (
	"errors"
	"fmt"
	"io/fs"

	"agentd/messages"
	"agentd/persistence"
)

// unavailable wraps a fault of the disk: the call had no effect, and may be tried again.
func unavailable(doing string, err error) error {
	return fmt.Errorf("%s: %w: %w", doing, persistence.ErrUnavailable, err)
}

// about names the session that an error concerns.
func about(doing string, id messages.SessionID, err error) error {
	return fmt.Errorf("%s session %q: %w", doing, id, err)
}

// missing reports whether an error says that a file is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
