package bounded_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/providers/catalog/bounded"
)

func TestProto(t *testing.T) {
	t.Parallel()
	whole := []byte("\x08\x96\x01\x12\x03abc\x19\x01\x02\x03\x04\x05\x06\x07\x08\x25\x01\x02\x03\x04\x92\x01\x00")
	fields := []bounded.ProtoField{
		{Number: 1, Varint: 150}, {Number: 2, Bytes: []byte("abc")}, {Number: 3}, {Number: 4}, {Number: 18, Bytes: []byte{}},
	}
	for _, tt := range []struct {
		name string
		data []byte
		want []bounded.ProtoField
	}{
		{"every kind of value", whole, fields},
		{"nothing", nil, nil},
		{"torn in a text", whole[:6], fields[:1]},
		{"torn in a number of fixed size", whole[:14], fields[:2]},
		{"length beyond the end", []byte("\x08\x01\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a"), []bounded.ProtoField{{Number: 1, Varint: 1}}},
		{"group", []byte("\x08\x01\x0b\x0c"), []bounded.ProtoField{{Number: 1, Varint: 1}}},
		{"endless number", []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []bounded.ProtoField
			for f := range bounded.Proto(tt.data) {
				got = append(got, f)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Proto (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzProto(f *testing.F) {
	f.Add([]byte("\x08\x96\x01\x12\x03abc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		total := 0
		for field := range bounded.Proto(data) {
			total += len(field.Bytes)
		}
		if total > len(data) {
			t.Errorf("%d bytes of values in a message of %d", total, len(data))
		}
	})
}
