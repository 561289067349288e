package session

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"agentd/messages"
)

func (s *State) onSetData(m SetData) {
	if err := s.refuseData(&m); err != nil {
		s.reply(m.Ticket, nil, err)
		return
	}
	if len(m.Value) == 0 {
		m.Value = nil // Both mean that the key goes; only one of them is stored so.
	}
	s.stage(group{
		changes: []messages.Change{messages.DataSet{Key: m.Key, Value: m.Value}},
		then:    then{what: followReply, ticket: m.Ticket},
		owner:   s.turnFor(m.Turn),
	})
}

// refuseData says why data is not set, or returns nil.
func (s *State) refuseData(m *SetData) error {
	switch {
	case m.Turn != "" && s.turnFor(m.Turn) == nil:
		return ErrTurnEnded
	case m.Turn == "" && s.deleting != nil:
		return ErrDeleted
	case m.Turn == "" && s.draining != nil:
		return ErrClosing
	case m.Key == "" || len(m.Key) > messages.MaxIDBytes || !utf8.ValidString(m.Key):
		return fmt.Errorf("data key of %d bytes: use 1 to %d bytes of UTF-8", len(m.Key), messages.MaxIDBytes)
	case len(m.Value) > MaxDataBytes:
		return fmt.Errorf("data %q of %d bytes, the limit is %d: %w", m.Key, len(m.Value), MaxDataBytes, messages.ErrTooLarge)
	case len(m.Value) > 0 && !json.Valid(m.Value):
		return fmt.Errorf("data %q is not JSON", m.Key)
	}
	total := len(m.Key) + len(m.Value)
	for key, value := range s.doc.Head.Data {
		if key != m.Key {
			total += len(key) + len(value)
		}
	}
	if len(m.Value) > 0 && total > MaxDataTotalBytes {
		return fmt.Errorf("data %q makes %d bytes of data, the limit is %d: %w", m.Key, total, MaxDataTotalBytes, messages.ErrTooLarge)
	}
	return nil
}
