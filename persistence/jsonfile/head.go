package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tidwall/gjson"

	"agentd/messages"
	"agentd/persistence"
)

// A snapshot is one JSON document in lines: the head, which opens the list of items; one item a line, with
// commas between; and the line that closes both.
const (
	itemsOpening = `,"items":[`
	closing      = "\n]}\n"
)

// appendHead appends the head line of a snapshot, without its line end.
func appendHead(dst []byte, head *messages.Head) ([]byte, error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("encoding the head of session %q: %w", head.ID, err)
	}
	dst = append(dst, text[:len(text)-1]...)
	return append(dst, itemsOpening...), nil
}

// decodeHead reads a head line, without its line end.
func decodeHead(line []byte) (messages.Head, error) {
	var head messages.Head
	if !bytes.HasSuffix(line, []byte(itemsOpening)) {
		return head, errors.New("the first line is not the head of a session")
	}
	text := append(append(make([]byte, 0, len(line)+2), line...), "]}"...)
	if !gjson.ValidBytes(text) {
		return head, errors.New("the first line is not JSON")
	}
	var fault error
	gjson.ParseBytes(text).ForEach(func(key, value gjson.Result) bool {
		fault = setHeadField(&head, key.String(), value)
		return fault == nil
	})
	if fault != nil {
		return head, fault
	}
	if head.Schema != messages.Schema {
		return head, fmt.Errorf("%w %q: it was written by another version of agentd; use that one", persistence.ErrSchema, head.Schema)
	}
	if head.LastSeq == 0 || head.Epoch == 0 || head.ItemCount < 0 {
		return head, errors.New("the head contradicts itself")
	}
	return head, nil
}

// setHeadField takes one field of a head.
func setHeadField(head *messages.Head, key string, value gjson.Result) error {
	switch key {
	case "schema":
		head.Schema = value.String()
	case "id":
		head.ID = messages.SessionID(value.String())
	case "agent-id":
		head.AgentID = messages.AgentID(value.String())
	case "status":
		head.Status = messages.SessionStatus(value.String())
	case "created-at":
		head.CreatedAt = value.Int()
	case "updated-at":
		head.UpdatedAt = value.Int()
	case "item-count":
		head.ItemCount = int(value.Int())
	case "turn-count":
		head.TurnCount = int(value.Int())
	case "last-seq":
		head.LastSeq = value.Uint()
	case "epoch":
		head.Epoch = value.Uint()
	case "turn":
		return setHeadTurn(head, value)
	case "data":
		setHeadData(head, value)
	}
	return nil
}

func setHeadTurn(head *messages.Head, value gjson.Result) error {
	turn := new(messages.Turn)
	if err := json.Unmarshal([]byte(value.Raw), turn); err != nil {
		return fmt.Errorf("the last turn: %w", err)
	}
	head.Turn = turn
	return nil
}

func setHeadData(head *messages.Head, value gjson.Result) {
	value.ForEach(func(key, entry gjson.Result) bool {
		if head.Data == nil {
			head.Data = make(map[string]json.RawMessage)
		}
		head.Data[key.String()] = json.RawMessage(entry.Raw)
		return true
	})
}

// readStart reads the beginning of a file up to the first line end, and not much more. It returns what it read, and
// where the line ends.
func readStart(file io.ReaderAt, size int64) (start []byte, end int, err error) {
	buf := make([]byte, min(4<<10, size))
	for have := 0; ; {
		if _, err := file.ReadAt(buf[have:], int64(have)); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		if i := bytes.IndexByte(buf[have:], '\n'); i >= 0 {
			return buf, have + i, nil
		}
		if have = len(buf); int64(have) >= size {
			return nil, 0, errUnended
		}
		buf = append(buf, make([]byte, min(int64(3*have), size-int64(have)))...)
	}
}
