package jsonfile

import (
	"bytes"
	"hash/crc32"
)

// Reseal gives every line of a segment the checksum that fits it.
func Reseal(text []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	out := bytes.Clone(text)
	for rest := out; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		putChecksum(rest[:end], table)
		rest = rest[end+1:]
	}
	return out
}

// Remembered is how many sessions are kept in memory.
func (s *Store) Remembered() int {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	return len(s.index.sessions)
}
