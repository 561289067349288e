package jsonfile

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"

	"agentd/messages"
	"agentd/persistence"
)

// A frame is one record in a segment, one line of text:
//
//	CRC SP {"synced":N,"session":"ID","seq":N,"kind":"K","at":N,"more":N,"body":{...}} LF
//
// CRC is the CRC-32C of the JSON, in 8 lower-case hex digits. "more" is how many further records of the same append
// follow, and is left out at 0. "synced" stands on the first frame of a commit only, and is the frame's own offset: since a commit is
// written after the one before is durable, it proves that the bytes before it were. So a bad line that such a
// frame follows is damage, and one that none follows is a commit that a crash tore.
const (
	crcDigits  = 8
	jsonOffset = crcDigits + 1
	// maxFrameBytes is the longest line: the largest body and what stands around it.
	maxFrameBytes = persistence.MaxRecordBytes + 1024
	// noMark is the offset of frames that prove nothing.
	noMark = -1
)

const syncedPrefix = `{"synced":`

// frame is a parsed frame. Its slices lie in the line that it was parsed from.
type frame struct {
	synced  int64
	session []byte
	seq     uint64
	kind    []byte
	at      int64
	more    uint64
	body    []byte
}

// record returns the frame's record. Its body lies in the line.
func (f *frame) record() messages.Record {
	return messages.Record{Seq: f.seq, Kind: kindOf(f.kind), At: f.at, Body: f.body}
}

// kindOf makes a kind without an allocation when it is a known one.
func kindOf(text []byte) messages.ChangeKind {
	for _, kind := range [...]messages.ChangeKind{
		messages.KindItem, messages.KindItemUpdated, messages.KindTurnStarted, messages.KindTurnEnded,
		messages.KindData, messages.KindOpened, messages.KindCreated, messages.KindDeleted,
	} {
		if string(text) == string(kind) {
			return kind
		}
	}
	return messages.ChangeKind(text)
}

// frameMark is what a frame says beside its record.
type frameMark struct {
	session messages.SessionID
	// synced is the frame's offset, or noMark.
	synced int64
	more   int
}

// appendFrame appends the frame of a record. The session's id and the kind need no escape: both were checked.
func appendFrame(dst []byte, table *crc32.Table, mark frameMark, rec *messages.Record) []byte {
	start := len(dst)
	dst = append(dst, "00000000 {"...)
	if mark.synced != noMark {
		dst = append(dst, `"synced":`...)
		dst = strconv.AppendInt(dst, mark.synced, 10)
		dst = append(dst, ',')
	}
	dst = append(dst, `"session":"`...)
	dst = append(dst, mark.session...)
	dst = append(dst, `","seq":`...)
	dst = strconv.AppendUint(dst, rec.Seq, 10)
	dst = append(dst, `,"kind":"`...)
	dst = append(dst, rec.Kind...)
	dst = append(dst, `","at":`...)
	dst = strconv.AppendInt(dst, rec.At, 10)
	if mark.more > 0 {
		dst = append(dst, `,"more":`...)
		dst = strconv.AppendInt(dst, int64(mark.more), 10)
	}
	dst = append(dst, `,"body":`...)
	dst = append(dst, rec.Body...)
	dst = append(dst, '}')
	putChecksum(dst[start:], table)
	return append(dst, '\n')
}

// putChecksum fills in the first digits of a line that lacks its line end.
func putChecksum(line []byte, table *crc32.Table) {
	const digits = "0123456789abcdef"
	sum := crc32.Checksum(line[jsonOffset:], table)
	for i := range crcDigits {
		line[i] = digits[sum>>(28-4*i)&0xf]
	}
}

// checkedJSON returns the JSON of a line (without its line end) whose checksum is right.
func checkedJSON(line []byte, table *crc32.Table) ([]byte, error) {
	if len(line) < jsonOffset+2 || line[crcDigits] != ' ' {
		return nil, errors.New("the line is not a checksum and a record")
	}
	var want uint32
	for _, c := range line[:crcDigits] {
		switch {
		case c >= '0' && c <= '9':
			want = want<<4 | uint32(c-'0')
		case c >= 'a' && c <= 'f':
			want = want<<4 | uint32(c-'a'+10)
		default:
			return nil, errors.New("the line does not begin with a checksum")
		}
	}
	text := line[jsonOffset:]
	if got := crc32.Checksum(text, table); got != want {
		return nil, fmt.Errorf("the checksum is %08x, the line says %08x", got, want)
	}
	return text, nil
}

// parseFrame parses a line without its line end. It takes exactly what appendFrame writes.
func parseFrame(line []byte, table *crc32.Table) (frame, error) {
	text, err := checkedJSON(line, table)
	if err != nil {
		return frame{}, err
	}
	f := frame{synced: noMark}
	c := cursor{rest: text}
	if c.skip(syncedPrefix) {
		f.synced = int64(c.number())
		c.want(`,"session":"`)
	} else {
		c.want(`{"session":"`)
	}
	f.session = c.until('"')
	c.want(`,"seq":`)
	f.seq = c.number()
	c.want(`,"kind":"`)
	f.kind = c.until('"')
	c.want(`,"at":`)
	f.at = c.signed()
	if c.skip(`,"more":`) {
		f.more = c.number()
	}
	c.want(`,"body":`)
	if c.failed || len(c.rest) < 3 || c.rest[0] != '{' || c.rest[len(c.rest)-1] != '}' {
		return frame{}, errors.New("the line is not laid out as a record")
	}
	f.body = c.rest[:len(c.rest)-1]
	return f, nil
}

// cursor reads a text piece by piece. After a failure every further read fails.
type cursor struct {
	rest   []byte
	failed bool
}

func (c *cursor) skip(prefix string) bool {
	if len(c.rest) < len(prefix) || string(c.rest[:len(prefix)]) != prefix {
		return false
	}
	c.rest = c.rest[len(prefix):]
	return true
}

func (c *cursor) want(prefix string) {
	if !c.skip(prefix) {
		c.failed = true
		c.rest = nil
	}
}

func (c *cursor) until(end byte) []byte {
	i := bytes.IndexByte(c.rest, end)
	if i < 0 {
		c.failed = true
		return nil
	}
	piece := c.rest[:i]
	c.rest = c.rest[i+1:]
	return piece
}

func (c *cursor) number() uint64 {
	n, i := uint64(0), 0
	for ; i < len(c.rest) && c.rest[i] >= '0' && c.rest[i] <= '9'; i++ {
		n = n*10 + uint64(c.rest[i]-'0')
	}
	// Nothing that is counted here comes near the end of an int64.
	if i == 0 || i > 19 || n > math.MaxInt64 {
		c.failed = true
		return 0
	}
	c.rest = c.rest[i:]
	return n
}

func (c *cursor) signed() int64 {
	if c.skip("-") {
		return -int64(c.number())
	}
	return int64(c.number())
}
