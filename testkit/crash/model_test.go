package crash

import (
	"maps"
	"slices"

	"agentd/messages"
)

// model is what a directory has to hold, as the acks of its children tell.
type model struct {
	sessions map[messages.SessionID]*sessionModel
	faults   []string
	// calls are the tool calls that were asked for, and those that returned, with their state.
	calls map[messages.CallID]messages.CallStatus
}

// sessionModel is one session.
type sessionModel struct {
	id messages.SessionID
	// created and deleted were acknowledged; deleting was asked for.
	created, deleting, deleted bool
	// seen is the history that an earlier check has read. It never changes any more.
	seen []*messages.Item
	// turnsSeen is how many turns it holds.
	turnsSeen int
	lastSeq   uint64
	// turns were asked for since, in this order.
	turns []*turnModel
	// data has the acknowledged value of each key, and those that were asked for since.
	data map[string]*dataModel
}

// turnModel is one turn since the last check.
type turnModel struct {
	id      messages.TurnID
	input   string
	started bool
	// ended is how it ended, if that was acknowledged.
	ended messages.TurnStatus
	items []itemModel
}

type itemModel struct {
	id   messages.ItemID
	text string
	seq  uint64
}

type dataModel struct {
	value string
	asked []string
}

func newModel() *model {
	return &model{sessions: map[messages.SessionID]*sessionModel{}, calls: map[messages.CallID]messages.CallStatus{}}
}

// take adds what a child told.
func (m *model) take(a ack) {
	switch a.Kind {
	case ackFault:
		m.faults = append(m.faults, a.Text)
		return
	case ackReady, ackStopped:
		return
	case ackCallAsked:
		m.calls[a.Call] = ""
		return
	case ackCallReturned:
		m.calls[a.Call] = messages.CallStatus(a.Text)
		return
	}
	s := m.sessions[a.Session]
	if s == nil {
		s = &sessionModel{id: a.Session, data: map[string]*dataModel{}}
		m.sessions[a.Session] = s
	}
	s.take(a)
}

func (s *sessionModel) take(a ack) {
	switch a.Kind {
	case ackCreateAsked:
	case ackCreated:
		s.created = true
	case ackDeleteAsked:
		s.deleting = true
	case ackDeleted:
		s.deleted = true
	case ackTurnAsked:
		s.turns = append(s.turns, &turnModel{id: a.Turn, input: a.Text})
	case ackTurnStarted:
		s.turn(a.Turn).started = true
	case ackTurnEnded:
		s.turn(a.Turn).ended = messages.TurnStatus(a.Text)
	case ackItem:
		t := s.turn(a.Turn)
		t.items = append(t.items, itemModel{id: a.Item, text: a.Text, seq: a.Seq})
	case ackDataAsked:
		d := s.key(a.Key)
		d.asked = append(d.asked, a.Text)
	case ackData:
		d := s.key(a.Key)
		at := slices.Index(d.asked, a.Text)
		d.value, d.asked = a.Text, d.asked[at+1:]
	}
}

func (s *sessionModel) turn(id messages.TurnID) *turnModel {
	for _, t := range s.turns {
		if t.id == id {
			return t
		}
	}
	return &turnModel{} // It was told of before it was asked for: the check finds a turn that nobody asked for.
}

func (s *sessionModel) key(key string) *dataModel {
	if s.data[key] == nil {
		s.data[key] = &dataModel{}
	}
	return s.data[key]
}

// ids returns the sessions in a fixed order.
func (m *model) ids() []messages.SessionID { return slices.Sorted(maps.Keys(m.sessions)) }
