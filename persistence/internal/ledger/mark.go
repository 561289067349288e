package ledger

import (
	"hash/crc32"

	"agentd/persistence"
)

// mark is what is kept of the last append, so that a repeat of it is known.
type mark struct {
	epoch, id, after uint64
	// digest stands for the records. It need not withstand an enemy: a writer that gives two appends
	// of one handle the same id and number has broken the rules of the port already.
	digest uint64
	count  int
}

func markOf(a *persistence.Append) mark {
	return mark{epoch: a.Handle.Epoch, id: a.ID, after: a.After, digest: digest(a), count: len(a.Records)}
}

// matches reports whether the append is the one of the mark. It is cheap for those that are not.
func (m *mark) matches(a *persistence.Append) bool {
	return m.id == a.ID && m.epoch == a.Handle.Epoch && m.after == a.After && m.count == len(a.Records) &&
		m.digest == digest(a)
}

// digest folds the records into one number: a CRC-32C and a length, which the processor computes at memory speed.
func digest(a *persistence.Append) uint64 {
	table := crc32.MakeTable(crc32.Castagnoli)
	var sum uint32
	var size, at uint64
	for i := range a.Records {
		rec := &a.Records[i]
		sum = crc32.Update(sum, table, rec.Body)
		size += uint64(len(rec.Body))
		at = at*31 + uint64(rec.At) + uint64(len(rec.Kind))
	}
	return uint64(sum)<<32 ^ size ^ at<<16
}
