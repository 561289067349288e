package bounded

import (
	"encoding/binary"
	"iter"
)

// ProtoField is one field of a protocol buffer message whose schema is only known in part.
type ProtoField struct {
	// Number is the field's number.
	Number uint64
	// Varint is the value of a field that holds a whole number.
	Varint uint64
	// Bytes is the value of a field that holds text, bytes or a message, and nil for every other. It points into the message.
	Bytes []byte
}

// Proto iterates over the fields of a protocol buffer message in order. It ends at the first place that cannot be one, so
// that a torn message still gives the fields in front of the tear.
func Proto(data []byte) iter.Seq[ProtoField] {
	return func(yield func(ProtoField) bool) {
		for len(data) > 0 {
			tag, n := binary.Uvarint(data)
			if n <= 0 {
				return
			}
			field, size := protoValue(data[n:], tag&7)
			if size < 0 {
				return
			}
			field.Number = tag >> 3
			data = data[n+size:]
			if !yield(field) {
				return
			}
		}
	}
}

// protoValue reads a value of a wire type, and returns how many bytes it takes, or -1 when it is none.
func protoValue(data []byte, wire uint64) (field ProtoField, size int) {
	switch wire {
	case 0:
		value, n := binary.Uvarint(data)
		if n <= 0 {
			return field, -1
		}
		field.Varint = value
		return field, n
	case 1, 5:
		size = 8
		if wire == 5 {
			size = 4
		}
		if len(data) < size {
			return field, -1
		}
		return field, size
	case 2:
		length, n := binary.Uvarint(data)
		if n <= 0 || length > uint64(len(data)-n) {
			return field, -1
		}
		end := n + int(length)
		field.Bytes = data[n:end:end]
		return field, end
	default:
		return field, -1
	}
}
