package messages

// TurnStatus is the state of a turn. A turn begins running and has exactly one
// terminal transition, ever.
type TurnStatus string

// The states of a turn.
const (
	// TurnRunning means that the agent works.
	TurnRunning TurnStatus = "running"
	// TurnCancelling means that a cancel was asked for and is being carried out. It is never stored.
	TurnCancelling TurnStatus = "cancelling"
	// TurnCompleted is terminal: the agent finished.
	TurnCompleted TurnStatus = "completed"
	// TurnFailed is terminal: the agent or its surroundings failed.
	TurnFailed TurnStatus = "failed"
	// TurnCancelled is terminal: somebody stopped it.
	TurnCancelled TurnStatus = "cancelled"
	// TurnInterrupted is terminal: the process ended under it.
	TurnInterrupted TurnStatus = "interrupted"
)

// Terminal reports whether the turn has ended.
func (s TurnStatus) Terminal() bool {
	switch s {
	case TurnCompleted, TurnFailed, TurnCancelled, TurnInterrupted:
		return true
	case TurnRunning, TurnCancelling:
		return false
	default:
		return false
	}
}

// ErrorInterrupted is the error of a turn that was running when its process ended.
const ErrorInterrupted = "interrupted: the process ended during the turn"

// Turn is the durable record of one turn.
type Turn struct {
	// ID is unique in its session.
	ID TurnID `json:"id"`
	// Status is running or one of the terminal states.
	Status TurnStatus `json:"status"`
	// Result is the agent's summary of a completed turn.
	Result string `json:"result,omitempty"`
	// Error says why a turn failed, was cancelled or interrupted.
	Error string `json:"error,omitempty"`
	// StartedAt and EndedAt are Unix seconds.
	StartedAt int64 `json:"started-at"`
	EndedAt   int64 `json:"ended-at,omitempty"`
	// Seq is the sequence number of the record that last changed the turn.
	Seq uint64 `json:"seq,omitempty"`
}
