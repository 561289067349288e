package ledger_test

import (
	"errors"
	"fmt"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/internal/ledger"
)

// claimed is an append that claims an epoch and adds one record.
func claimed(epoch, id, after uint64) persistence.Append {
	kind := messages.KindOpened
	if after == 0 {
		kind = messages.KindCreated
	}
	return persistence.Append{
		Handle: persistence.Handle{Session: "s", Epoch: epoch}, ID: id, After: after,
		Records: []messages.Record{
			{Seq: after + 1, Kind: kind, Body: fmt.Appendf(nil, `{"epoch":%d}`, epoch)},
			{Seq: after + 2, Kind: messages.KindItem, Body: []byte(`{"id":"i"}`)},
		},
	}
}

func plain(epoch, id, after uint64) persistence.Append {
	a := claimed(epoch, id, after)
	a.Records = []messages.Record{{Seq: after + 1, Kind: messages.KindItem, Body: []byte(`{"id":"j"}`)}}
	return a
}

// TestCheck judges appends to a session whose last record is 4, of epoch 2, and which epoch 3 has been given out for.
func TestCheck(t *testing.T) {
	t.Parallel()
	last := claimed(2, 1, 2)
	changed := claimed(2, 1, 2)
	changed.Records[1].Body = []byte(`{"id":"k"}`)
	other := last
	other.ID = 9
	for name, test := range map[string]struct {
		append persistence.Append
		repeat bool
		want   error
	}{
		"the new handle claims":           {append: claimed(3, 1, 4)},
		"the new handle does not claim":   {append: plain(3, 1, 4), want: persistence.ErrConflict},
		"the new handle at a wrong place": {append: claimed(3, 1, 3), want: persistence.ErrConflict},
		"the old handle":                  {append: plain(2, 2, 4), want: persistence.ErrFenced},
		"a handle nobody has":             {append: claimed(9, 1, 4), want: persistence.ErrFenced},
		"a repeat":                        {append: last, repeat: true},
		"a repeat with other records":     {append: changed, want: persistence.ErrFenced},
		"the same records, another id":    {append: other, want: persistence.ErrFenced},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := ledger.Session{}
			first := claimed(1, 1, 0)
			session.Claim("s")
			for _, a := range []persistence.Append{first, last} {
				if _, err := session.Check(&a); err != nil {
					t.Fatalf("Check(%+v) = %v", a, err)
				}
				session.Apply(&a)
				session.Claim("s")
			}
			repeat, err := session.Check(&test.append)
			if repeat != test.repeat || !errors.Is(err, test.want) || test.want == nil && err != nil {
				t.Errorf("Check = %v, %v, want %v, %v", repeat, err, test.repeat, test.want)
			}
		})
	}
}
