package session

import (
	"strconv"
	"testing"

	"agentd/messages"
)

// BenchmarkTurn is a whole turn through the rules: a prompt, stored, a finish with one item, stored. There is no store and no actor
// around it. Target: 6 µs and 30 allocations. A session is taken for a hundred turns, so that the growth of one huge history does not count.
func BenchmarkTurn(b *testing.B) {
	const each = 100
	var turns, replies [each]string
	for i := range each {
		turns[i], replies[i] = "t"+strconv.Itoa(i), "m"+strconv.Itoa(i)
	}
	for _, watched := range []bool{false, true} {
		b.Run("watched="+strconv.FormatBool(watched), func(b *testing.B) {
			var s *State
			b.ReportAllocs()
			for i := range b.N {
				if i%each == 0 {
					s, _ = Create("s1", messages.Created{AgentID: "a1", Epoch: 1}, nil, 1, Limits{})
					s.Watch(watched)
					s.Step(1, Committed{ID: s.commitID})
				}
				turn := messages.TurnID(turns[i%each])
				s.Step(2, Prompt{Ticket: s, Turn: turn, Item: messages.ItemID(turn), Input: "draw a red circle"})
				s.Step(2, Committed{ID: s.commitID})
				reply := messages.Item{ID: messages.ItemID(replies[i%each]), Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: "Done."}
				s.Step(3, Finish{Ticket: s, Turn: turn, Result: "Done.", Items: []messages.Item{reply}})
				s.Step(3, Committed{ID: s.commitID})
			}
			if got := s.Head().TurnCount; got != (b.N-1)%each+1 {
				b.Fatalf("%d turns, want %d", got, (b.N-1)%each+1)
			}
		})
	}
}

// BenchmarkAppend shows that a step does not depend on the length of the history.
func BenchmarkAppend(b *testing.B) {
	for _, length := range []int{100, 100_000} {
		b.Run(strconv.Itoa(length), func(b *testing.B) {
			s := running(b)
			for i := range length {
				s.Step(4, Append{Turn: "t1", Item: messages.Item{ID: messages.ItemID(strconv.Itoa(i)), Type: messages.ItemMessage}})
				s.Step(4, Committed{ID: s.commitID})
			}
			ids := make([]messages.ItemID, b.N)
			for i := range ids {
				ids[i] = messages.ItemID("n" + strconv.Itoa(i))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				s.Step(5, Append{Turn: "t1", Item: messages.Item{ID: ids[i], Type: messages.ItemMessage, Content: "text"}})
				s.Step(5, Committed{ID: s.commitID})
			}
		})
	}
}
