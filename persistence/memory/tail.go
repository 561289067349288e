package memory

import (
	"encoding/binary"

	"agentd/messages"
)

// tail is a queue of records, as text in a few big blocks: nothing in it is of interest to the garbage collector, a record is
// copied once, and its writer may use the memory of the body again.
type tail struct {
	// blocks hold whole records, in their order; only the last one has room.
	blocks [][]byte
	// read is how much of the first block was taken out.
	read int
}

// The sizes of blocks. A short session's are small; a record that is larger has a block of its own.
const (
	firstBlock = 256
	lastBlock  = 8 << 10
)

// maxNumbers is the most that the numbers and the lengths of one record take.
const maxNumbers = 4 * binary.MaxVarintLen64

// push appends a record.
func (t *tail) push(rec *messages.Record) {
	need := maxNumbers + len(rec.Kind) + len(rec.Body)
	last := len(t.blocks) - 1
	if last < 0 || cap(t.blocks[last])-len(t.blocks[last]) < need {
		size := firstBlock
		if last >= 0 {
			size = min(2*cap(t.blocks[last]), lastBlock)
		}
		t.blocks = append(t.blocks, make([]byte, 0, max(size, need)))
		last++
	}
	block := binary.AppendUvarint(t.blocks[last], rec.Seq)
	block = binary.AppendVarint(block, rec.At)
	block = append(binary.AppendUvarint(block, uint64(len(rec.Kind))), rec.Kind...)
	t.blocks[last] = append(binary.AppendUvarint(block, uint64(len(rec.Body))), rec.Body...)
}

// first returns the oldest record and its length in the block, or false. The body is good until the record is dropped.
func (t *tail) first() (rec messages.Record, size int, ok bool) {
	if len(t.blocks) == 0 {
		return rec, 0, false
	}
	r := reader{rest: t.blocks[0][t.read:]}
	rec.Seq, rec.At = r.unsigned(), r.signed()
	rec.Kind = messages.ChangeKind(r.bytes())
	rec.Body = r.bytes()
	return rec, len(t.blocks[0]) - t.read - len(r.rest), true
}

// drop takes the oldest record out, which has the given size.
func (t *tail) drop(size int) {
	if t.read += size; t.read < len(t.blocks[0]) {
		return
	}
	t.blocks, t.read = t.blocks[1:], 0
	if len(t.blocks) == 0 {
		t.blocks = nil
	}
}

// reader takes apart what push made. It is memory of ours, so that nothing in it can be wrong.
type reader struct{ rest []byte }

func (r *reader) unsigned() uint64 {
	value, n := binary.Uvarint(r.rest)
	r.rest = r.rest[n:]
	return value
}

func (r *reader) signed() int64 {
	value, n := binary.Varint(r.rest)
	r.rest = r.rest[n:]
	return value
}

func (r *reader) bytes() []byte {
	n := r.unsigned()
	value := r.rest[:n:n]
	r.rest = r.rest[n:]
	return value
}
