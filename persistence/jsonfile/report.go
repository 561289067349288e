package jsonfile

import (
	"agentd/messages"
	"agentd/persistence"
)

// Report is what [Open] found and did.
type Report struct {
	// Sessions are those with records in the journal.
	Sessions int
	// Running are those of them in which a turn was running.
	Running []messages.SessionID
	// Records is how many records the journal holds that no snapshot has.
	Records int
	// TornFile is the segment whose end a crash tore, or empty.
	TornFile string
	// TornBytes is how much of it was cut off. None of it was ever acknowledged.
	TornBytes int64
	// Cleaned are the files that were removed: temporary ones, and segments that were given up.
	Cleaned []string
	// Bad are the sessions that the journal names and whose snapshot does not fit.
	Bad []persistence.BadSession
}
