package messages

import "fmt"

// OnBusy says what a new prompt does while a turn runs in its session.
type OnBusy string

// The three ways. The zero value means [OnBusyCancel].
const (
	// OnBusyCancel cancels the running turn; the new one starts when it has ended.
	OnBusyCancel OnBusy = "cancel"
	// OnBusyQueue waits, in a bounded queue, until the running turn has ended.
	OnBusyQueue OnBusy = "queue"
	// OnBusyReject refuses the new prompt.
	OnBusyReject OnBusy = "reject"
)

// Validate returns an error that names an unknown way and lists the known ones.
func (b OnBusy) Validate() error {
	switch b {
	case "", OnBusyCancel, OnBusyQueue, OnBusyReject:
		return nil
	default:
		return fmt.Errorf("unknown on-busy %q: use cancel, queue or reject", string(b))
	}
}
