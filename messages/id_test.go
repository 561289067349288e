package messages

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSessionIDValidate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		id   SessionID
		ok   bool
	}{
		{"made here", NewSessionID(), true},
		{"short", "a", true},
		{"longest", SessionID(strings.Repeat("a", MaxIDBytes)), true},
		{"dots inside", "a.b..c", true},
		{"empty", "", false},
		{"too long", SessionID(strings.Repeat("a", 300)), false},
		{"slash", "a/b", false},
		{"backslash", `a\b`, false},
		{"parent", "..", false},
		{"hidden", ".a", false},
		{"option", "-a", false},
		{"NUL", "a\x00b", false},
		{"newline", "a\nb", false},
		{"space", "a b", false},
		{"not ASCII", "é", false},
		{"drive", "c:", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.id.Validate()
			if (err == nil) != tt.ok {
				t.Errorf("SessionID(%q).Validate() = %v, want ok %v", string(tt.id), err, tt.ok)
			}
			if invalid := new(InvalidIDError); err != nil && (!errors.As(err, &invalid) || invalid.Noun != "session") {
				t.Errorf("SessionID(%q).Validate() = %T, want an InvalidIDError for a session", string(tt.id), err)
			}
		})
	}
}

func TestNewIDsAreValidAndDifferent(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		for _, id := range []string{string(NewSessionID()), string(NewTurnID()), string(NewItemID()), string(NewCallID()), string(NewRequestID())} {
			if err := SessionID(id).Validate(); err != nil {
				t.Fatalf("fresh id: %v", err)
			}
			if seen[id] {
				t.Fatalf("id %q came twice", id)
			}
			seen[id] = true
		}
	}
}

func FuzzSessionID(f *testing.F) {
	for _, seed := range []string{"agt-ses-1", "../x", "a/b", "", "a\x00", "con", strings.Repeat("x", 200)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if SessionID(text).Validate() != nil {
			return
		}
		if text == "" || len(text) > MaxIDBytes || strings.ContainsAny(text, "/\\\x00:\n ") || text[0] == '.' || text[0] == '-' {
			t.Fatalf("SessionID(%q) is accepted", text)
		}
	})
}

// What was made later is greater, in any digit, so that a session need not search for what is fresh.
func TestTimedIDsGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		before := NewItemID()
		for pause := time.Nanosecond; pause < 30*365*24*time.Hour; pause *= 3 {
			<-time.After(pause)
			if id := NewItemID(); id <= before || len(id) != len(before) {
				t.Fatalf("NewItemID() = %q, %v after %q: want it greater", id, pause, before)
			} else {
				before = id
			}
		}
	})
}
