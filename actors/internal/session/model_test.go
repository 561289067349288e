package session

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var (
	stepsFlag = flag.Int("session.steps", 0, "random steps of the model test (0 means 200,000, or 20,000 under the race detector)")
	allFlag   = flag.Bool("session.all", false, "try all triples of racing events, not a part of them")
	seedFlag  = flag.Uint64("session.seed", 0, "seed of the model test (0 means a fresh one)")
)

// bases are the states that the pairs and triples start from, as the events that lead there.
func bases() map[string]string {
	return map[string]string{
		"new":                    "",
		"idle":                   "stored",
		"starting":               "stored prompt-cancel",
		"running":                "stored prompt-cancel stored",
		"running-second-turn":    "stored prompt-cancel stored finish stored prompt-cancel stored",
		"running-with-drafts":    "stored prompt-cancel stored draft stored draft draft-2",
		"running-with-calls":     "stored prompt-cancel stored call call-pending stored record-waits stored",
		"running-with-unstored":  "stored prompt-cancel stored append call draft",
		"running-with-queue":     "stored prompt-cancel stored prompt-queue prompt-queue",
		"stopping":               "stored prompt-cancel stored call stored cancel",
		"stopping-for-next":      "stored prompt-cancel stored draft stored prompt-queue prompt-cancel",
		"ending":                 "stored prompt-cancel stored draft call stored finish-with",
		"owed":                   "stored prompt-cancel stored call draft stored draft finish-with store-fails",
		"owed-with-data-under":   "stored prompt-cancel stored finish store-fails data-host",
		"repaying":               "stored prompt-cancel stored draft stored fail store-fails tick",
		"in-doubt":               "stored prompt-cancel stored append store-unsure-stored",
		"recovering":             "stored prompt-cancel stored call draft stored crash",
		"recovered":              "stored prompt-cancel stored call-pending record-waits draft stored crash stored",
		"deleting":               "stored prompt-cancel stored delete",
		"deletion-under-way":     "stored delete",
		"draining":               "stored prompt-cancel stored drain-force",
		"draining-with-owed":     "stored prompt-cancel stored drain-force stopped store-fails",
		"gone":                   "stored drain",
		"failed-while-streaming": "stored prompt-cancel stored draft call call-draft store-fails",
	}
}

func eventsByName() map[string]event {
	byName := map[string]event{}
	for _, e := range allEvents() {
		byName[e.name] = e
	}
	return byName
}

// worldAt builds a world by the events that lead to a base.
func worldAt(known *known, path []event) (*world, error) {
	w, err := newWorld(known)
	for _, e := range path {
		if err == nil {
			err = e.on(w)
		}
	}
	return w, err
}

func pathOf(tb testing.TB, names string) []event {
	tb.Helper()
	byName := eventsByName()
	var path []event
	for _, name := range strings.Fields(names) {
		e, ok := byName[name]
		if !ok {
			tb.Fatalf("there is no event %q", name)
		}
		path = append(path, e)
	}
	return path
}

// play lets the events happen, and then holds the world to what must be true in the end: everybody is
// answered, each turn has ended once, and a crash after each event would have been survived.
func play(known *known, path []event, events ...event) error {
	w, err := worldAt(known, path)
	for _, e := range events {
		if err == nil {
			err = e.on(w)
		}
	}
	if err == nil {
		err = w.recovers(w.journal)
	}
	if err == nil && w.under != nil {
		w.keep() // The crash comes after the commit is stored, and before the answer.
		w.doubt = true
		err = w.recovers(w.journal)
	}
	if err == nil {
		err = w.settle()
	}
	if err != nil {
		return fmt.Errorf("%w\n\tafter: %s", err, w)
	}
	return nil
}

func TestEveryPairOfEventsInEveryState(t *testing.T) {
	t.Parallel()
	events := allEvents()
	for name, names := range bases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, known := pathOf(t, names), newKnown()
			for i, first := range events {
				for j, second := range events {
					if raceDetector && (i+j)%10 != 0 {
						continue // It is ten times slower, and there is no concurrency to find here.
					}
					if err := play(known, path, first, second); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

func TestEveryTripleOfRacingEventsInEveryState(t *testing.T) {
	t.Parallel()
	part := 4 // Of all, so that a usual run takes seconds.
	switch {
	case *allFlag:
		part = 1
	case raceDetector:
		part = 50
	}
	var events []event
	for _, e := range allEvents() {
		if e.races {
			events = append(events, e)
		}
	}
	for name, names := range bases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, known := pathOf(t, names), newKnown()
			for i, first := range events {
				for j, second := range events {
					for k, third := range events {
						if (i*7+j*3+k)%part != 0 {
							continue
						}
						if err := play(known, path, first, second, third); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		})
	}
}

func TestRandomEvents(t *testing.T) {
	t.Parallel()
	steps, seed := *stepsFlag, *seedFlag
	if steps == 0 {
		steps = 200_000
		if raceDetector {
			steps = 20_000
		}
	}
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("%d steps, -session.seed=%d", steps, seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var lots []event
	for _, e := range allEvents() {
		for range e.often {
			lots = append(lots, e)
		}
	}
	known := newKnown()
	for done, worlds := 0, 0; done < steps; worlds++ {
		if worlds%1000 == 999 {
			known = newKnown() // It is a memory, and grows.
		}
		n := 5 + random.IntN(120)
		if err := playRandom(known, random, lots, n, worlds%20 == 0); err != nil {
			t.Fatalf("world %d of -session.seed=%d: %v", worlds, seed, err)
		}
		done += n
	}
}

// playRandom lets n random events happen. With every, it recovers from each prefix of what was stored.
func playRandom(known *known, random *rand.Rand, lots []event, n int, every bool) error {
	w, err := newWorld(known)
	for range n {
		if err != nil {
			break
		}
		if w.left && random.IntN(3) == 0 {
			err = w.crash() // Opened again.
		}
		if err == nil {
			err = lots[random.IntN(len(lots))].on(w)
		}
	}
	if err == nil {
		err = w.settle()
	}
	from := max(1, len(w.journal)-1)
	if every {
		from = 1
	}
	for end := from; err == nil && end <= len(w.journal); end++ {
		err = w.recovers(w.journal[:end])
	}
	if err != nil {
		return fmt.Errorf("%w\n\tafter: %s", err, w)
	}
	return nil
}

func FuzzEvents(f *testing.F) {
	events := allEvents()
	index := map[string]byte{}
	for i, e := range events {
		index[e.name] = byte(i)
	}
	for _, names := range bases() {
		var seed []byte
		for _, name := range strings.Fields(names) {
			seed = append(seed, index[name])
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 300 {
			script = script[:300]
		}
		w, err := newWorld(newKnown())
		for _, b := range script {
			if err != nil {
				break
			}
			err = events[int(b)%len(events)].on(w)
		}
		err = errors.Join(err, w.recovers(w.journal))
		if err == nil {
			err = w.settle()
		}
		if err != nil {
			t.Fatalf("%v\n\tafter: %s", err, w)
		}
	})
}
