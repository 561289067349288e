package crash

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	"agentd/messages"
)

// ack is one line that a child tells its parent: what it is about to ask for, or what was acknowledged to it.
type ack struct {
	Kind    string             `json:"k"`
	Session messages.SessionID `json:"s,omitempty"`
	Turn    messages.TurnID    `json:"t,omitempty"`
	Item    messages.ItemID    `json:"i,omitempty"`
	Call    messages.CallID    `json:"c,omitempty"`
	Key     string             `json:"key,omitempty"`
	Text    string             `json:"x,omitempty"`
	Seq     uint64             `json:"n,omitempty"`
}

// The kinds of acks. Those that end in -asked come before the request, the others after the acknowledgement.
const (
	ackReady        = "ready"
	ackCreateAsked  = "create-asked"
	ackCreated      = "created"
	ackTurnAsked    = "turn-asked"
	ackTurnStarted  = "turn-started"
	ackItem         = "item"
	ackDataAsked    = "data-asked"
	ackData         = "data"
	ackCallAsked    = "call-asked"
	ackCallReturned = "call-returned"
	ackTurnEnded    = "turn-ended"
	ackDeleteAsked  = "delete-asked"
	ackDeleted      = "deleted"
	ackStopped      = "stopped"
	ackFault        = "fault"
)

// teller writes acks, each with one write, so that a line is in the pipe when the call returns.
type teller struct {
	mu  sync.Mutex
	out io.Writer
}

func (t *teller) tell(a ack) {
	line, err := json.Marshal(a)
	if err != nil {
		line = fmt.Appendf(nil, `{"k":%q,"x":%q}`, ackFault, err)
	}
	t.mu.Lock()
	_, err = t.out.Write(append(line, '\n'))
	t.mu.Unlock()
	if err != nil {
		os.Exit(3) // The parent has gone.
	}
}

// readAcks hands out the acks of a child, until the pipe ends. A last line that was cut is not told.
func readAcks(in io.Reader, take func(ack)) error {
	reader := bufio.NewReader(in)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return nil //nolint:nilerr // The end of the pipe, after a line that was cut or not.
		}
		var a ack
		if err := json.Unmarshal(line, &a); err != nil {
			return fmt.Errorf("reading what the child told, %q: %w", line, err)
		}
		take(a)
	}
}
