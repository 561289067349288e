package memory

import "agentd/messages"

// tail is a queue of records. It grows block by block, so that a record is copied once, however many follow.
type tail struct {
	// blocks hold the records in their order; only the last one has room, and none is empty.
	blocks [][]messages.Record
}

// The sizes of blocks, in records. A short session's are small.
const (
	firstBlock = 4
	lastBlock  = 64
)

func (t *tail) append(records []messages.Record) {
	for len(records) > 0 {
		last := len(t.blocks) - 1
		if last < 0 || len(t.blocks[last]) == cap(t.blocks[last]) {
			size := firstBlock
			if last >= 0 {
				size = min(2*len(t.blocks[last]), lastBlock)
			}
			t.blocks = append(t.blocks, make([]messages.Record, 0, size))
			last++
		}
		block := t.blocks[last]
		n := min(cap(block)-len(block), len(records))
		t.blocks[last] = append(block, records[:n]...)
		records = records[n:]
	}
}

// first is the oldest record, or nil.
func (t *tail) first() *messages.Record {
	if len(t.blocks) == 0 {
		return nil
	}
	return &t.blocks[0][0]
}

// drop takes the oldest record out.
func (t *tail) drop() {
	if t.blocks[0] = t.blocks[0][1:]; len(t.blocks[0]) == 0 {
		t.blocks = t.blocks[1:]
	}
	if len(t.blocks) == 0 {
		t.blocks = nil
	}
}
