package messages

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	mathrand "math/rand/v2"
	"time"
	"unicode/utf8"
)

// MaxIDBytes is the longest id, in bytes, that is accepted anywhere.
const MaxIDBytes = 128

// Ids of the things that agentd keeps. They are distinct types so that the
// compiler tells them apart, and plain strings so that they cross a file.
type (
	// SessionID names a session and, with ".json" behind it, its snapshot file.
	SessionID string
	// TurnID names one turn of a session.
	TurnID string
	// ItemID names one item in a session.
	ItemID string
	// CallID names one tool call; its tool-result carries the same id.
	CallID string
	// AgentID names a registered agent.
	AgentID string
	// RequestID names one pending approval request.
	RequestID string
)

// Prefixes of the ids that agentd makes up itself.
const (
	SessionPrefix = "agt-ses-"
	TurnPrefix    = "turn-"
	ItemPrefix    = "itm-"
	CallPrefix    = "call-"
	RequestPrefix = "approval-"
)

// NewSessionID returns a fresh random session id.
func NewSessionID() SessionID { return SessionID(RandomID(SessionPrefix)) }

// NewTurnID returns a fresh turn id. It is unique and no secret, and greater than those that were made before it, as far as the clock tells.
func NewTurnID() TurnID { return TurnID(timedID(TurnPrefix)) }

// NewItemID returns a fresh item id. It is unique and no secret, and greater than those that were made before it, as far as the clock tells.
func NewItemID() ItemID { return ItemID(timedID(ItemPrefix)) }

// NewCallID returns a fresh random call id.
func NewCallID() CallID { return CallID(RandomID(CallPrefix)) }

// NewRequestID returns a fresh random approval request id.
func NewRequestID() RequestID { return RequestID(RandomID(RequestPrefix)) }

// RandomID returns a fresh id with a prefix: 128 random bits as 32 hex digits stand behind it.
func RandomID(prefix string) string {
	var raw [16]byte
	rand.Read(raw[:]) // Never fails: crypto/rand ends the process instead.
	var text [64]byte
	return string(hex.AppendEncode(append(text[:0], prefix...), raw[:]))
}

// idDigits are the digits of [timedID]. Their order is that of their values, so that texts of one length stand in the order of their numbers.
const idDigits = "0123456789abcdefghijklmnopqrstuv"

// timedID returns a fresh id for what nobody has to be unable to guess, of which a turn makes several: the time in nanoseconds and 64 random bits, as 13
// digits each. What is newer has the greater id, so that a session knows without a search that it has no such thing yet. The generator is
// the runtime's ChaCha8, seeded by the system; asking the system each time took a twentieth of a turn.
func timedID(prefix string) string {
	var text [64]byte
	id := append(text[:0], prefix...)
	id = appendDigits(id, uint64(time.Now().UnixNano())) //nolint:gosec // Until the year 2262.
	id = appendDigits(id, mathrand.Uint64())             //nolint:gosec // See above: no secret.
	return string(id)
}

// appendDigits writes a number with digits of five bits each.
func appendDigits(dst []byte, n uint64) []byte {
	for shift := 60; shift >= 0; shift -= 5 {
		dst = append(dst, idDigits[n>>shift&31])
	}
	return dst
}

// Validate reports whether the id may name a session. An id becomes a file name,
// so it is held to letters, digits, '-', '_' and '.', starts with a letter or a
// digit, and has 1 to [MaxIDBytes] bytes. The error is an [*InvalidIDError].
func (id SessionID) Validate() error { return validateID("session", string(id)) }

// Validate reports whether the id may name a turn, by the rule of [SessionID.Validate].
func (id TurnID) Validate() error { return validateID("turn", string(id)) }

// Validate reports whether the id may name an agent, by the rule of [SessionID.Validate].
func (id AgentID) Validate() error { return validateID("agent", string(id)) }

// Validate reports whether the id may name an item. Items carry ids that
// providers made up, so any printable text of 1 to [MaxIDBytes] bytes will do.
func (id ItemID) Validate() error { return validateOpaqueID("item", string(id)) }

// Validate reports whether the id may name a call, by the rule of [ItemID.Validate].
func (id CallID) Validate() error { return validateOpaqueID("call", string(id)) }

// InvalidIDError says which kind of id was refused, and why. The id is quoted and cut to
// a readable length, since it may come from anywhere.
type InvalidIDError struct {
	// Noun is what the id should have named: "session", "agent" and so on.
	Noun string
	// ID is the id as it came.
	ID string
	// Reason is the rule that it breaks.
	Reason string
}

// Error implements error.
func (e *InvalidIDError) Error() string {
	id := e.ID
	if len(id) > 40 {
		id = id[:40] + "…"
	}
	return fmt.Sprintf("invalid %s id %q: %s", e.Noun, id, e.Reason)
}

func validateID(noun, id string) error {
	if reason := lengthFault(id); reason != "" {
		return &InvalidIDError{Noun: noun, ID: id, Reason: reason}
	}
	for i := range len(id) {
		c := id[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if alnum || i > 0 && (c == '-' || c == '_' || c == '.') {
			continue
		}
		return &InvalidIDError{Noun: noun, ID: id, Reason: "use letters, digits, '-', '_' and '.', and begin with a letter or a digit"}
	}
	return nil
}

func validateOpaqueID(noun, id string) error {
	if reason := lengthFault(id); reason != "" {
		return &InvalidIDError{Noun: noun, ID: id, Reason: reason}
	}
	for i := range len(id) {
		if c := id[i]; c < 0x20 || c == 0x7f {
			return &InvalidIDError{Noun: noun, ID: id, Reason: "it holds a control character"}
		}
	}
	if !utf8.ValidString(id) {
		// JSON would replace the odd bytes, and two ids could become one.
		return &InvalidIDError{Noun: noun, ID: id, Reason: "it is not valid UTF-8"}
	}
	return nil
}

func lengthFault(id string) string {
	switch {
	case id == "":
		return "it is empty"
	case len(id) > MaxIDBytes:
		return fmt.Sprintf("it has %d bytes, the limit is %d", len(id), MaxIDBytes)
	default:
		return ""
	}
}
