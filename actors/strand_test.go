package actors

import (
	"fmt"
	"testing"

	"agentd/messages"
)

// Sessions are spread evenly, also those whose ids say something twice or count.
func TestSpreadIsEven(t *testing.T) {
	t.Parallel()
	for name, format := range map[string]func(int) string{
		"twice":   func(i int) string { return fmt.Sprintf("user-%d-chat-%d", i, i) },
		"doubled": func(i int) string { return fmt.Sprintf("%d.%d", i, i) },
		"counted": func(i int) string { return fmt.Sprintf("s%d", i) },
		"random":  func(int) string { return string(messages.NewSessionID()) },
	} {
		for _, places := range []int{2, 3, 4, 8, 64} {
			spread, counts := newSpread(), make([]int, places)
			for i := range 8000 {
				id := messages.SessionID(format(i))
				place := spread.place(id, places)
				if again := spread.place(id, places); again != place {
					t.Fatalf("place(%q) = %d, then %d", id, place, again)
				}
				counts[place]++
			}
			for _, n := range counts {
				if n < 8000/places/2 || n > 8000/places*2 {
					t.Errorf("%s: 8000 sessions in %d places: %v, want about even", name, places, counts)
					break
				}
			}
		}
	}
}
