package space

import (
	"errors"
	"testing"
	"time"

	"agentd/testkit"
)

// Turns in quick succession share a connection, unless something was missed or OpenCode has died meanwhile.
func TestConnectionIsKept(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		between func(t *testing.T, s *stage)
		// opened is how often the link is asked for. Zero means that it depends on when the break is heard of.
		opened int
	}{
		{"nothing happens", func(*testing.T, *stage) {}, 1},
		{"late words", func(_ *testing.T, s *stage) {
			for range 100 {
				s.emit("session.updated", doc{"info": doc{"id": "ses_000001"}})
			}
		}, 1},
		{"the stream breaks", func(t *testing.T, s *stage) {
			t.Helper()
			before := s.count("GET /event")
			s.breakStreams()
			testkit.Eventually(t, "the stream to come back", func() error {
				if s.count("GET /event") == before || s.streaming() == 0 {
					return errors.New("not yet")
				}
				return nil
			})
		}, 0},
		{"OpenCode dies", func(_ *testing.T, s *stage) {
			s.kill(errors.New("killed"))
			s.reborn()
		}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, Options{keepFor: time.Minute})
			s.play = answers("hello")
			s.Complete(s.id, "one")
			s.plays.Wait()
			tt.between(t, s)
			s.Complete(s.id, "two")
			if tt.opened != 0 && s.opened != tt.opened {
				t.Errorf("the link was opened %d times, want %d", s.opened, tt.opened)
			}
			s.wantItems(t, `message user "one"`, `message assistant "hello"`, `message user "two"`, `message assistant "hello"`)
			s.empty(t)
		})
	}
}

func TestKeptConnectionEnds(t *testing.T) {
	t.Parallel()
	s := newStage(t, Options{keepFor: time.Millisecond})
	s.play = answers("hello")
	s.Complete(s.id, "one")
	testkit.Eventually(t, "the connection to be closed", func() error {
		if s.streaming() != 0 {
			return errors.New("still open")
		}
		return nil
	})
}

// empty closes what is kept.
func (s *stage) empty(t *testing.T) {
	t.Helper()
	r, leave, err := s.agent.rooms.enter(t.Context(), s.id)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	if kept := r.shelf.take(); kept != nil {
		kept.close()
	}
}
