package modelserver

import (
	"fmt"
	"slices"
	"strings"
)

// Always as [Step].Times lets a step answer any number of requests.
const Always = -1

// Match says which requests a step is for. Its zero value matches every request; of several conditions all must hold.
type Match struct {
	// Offered tools must all be offered, Absent ones must all be missing.
	Offered, Absent []string
	// Prompt must be a part of the newest user message.
	Prompt string
	// Last must be a part of the newest message, whoever said it.
	Last string
	// System must be a part of the system text.
	System string
	// TurnStep must be the request's [Request.TurnStep]; zero matches any.
	TurnStep int
	// Model must be the model asked for; empty matches any.
	Model string
	// Func must return true, if it is there. It is called with the script locked and must not use the server.
	Func func(Request) bool
}

func (m Match) matches(r Request) bool {
	offered := r.Offers
	switch {
	case !all(m.Offered, offered), slices.ContainsFunc(m.Absent, offered),
		!strings.Contains(r.Prompt(), m.Prompt),
		!strings.Contains(r.Last().Text, m.Last),
		!strings.Contains(r.System, m.System),
		m.TurnStep != 0 && m.TurnStep != r.TurnStep(),
		m.Model != "" && m.Model != r.Model:
		return false
	}
	return m.Func == nil || m.Func(r)
}

func all(names []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !ok(name) })
}

// Step is one line of the script. A request is answered by the first step that matches and is not used up, so steps
// without conditions are told in order, and steps with conditions serve several conversations at once.
type Step struct {
	When  Match
	Reply Reply
	// Make, if it is there, makes the reply instead of Reply; it may look at tool results and must not use the server.
	Make func(Request) Reply
	// Times is how many requests the step may answer; zero means one, [Always] means any number.
	Times int
}

func (s Step) validate() error {
	if s.Times < Always {
		return fmt.Errorf("%w: Times is %d: give a count or Always", ErrInvalid, s.Times)
	}
	return s.Reply.validate()
}

func validateScript(steps []Step) error {
	for i, s := range steps {
		if err := s.validate(); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// script is the steps and how often each was used. Its owner locks.
type script struct {
	steps []Step
	used  []int
}

func (s *script) add(steps []Step) {
	s.steps = append(s.steps, steps...)
	s.used = append(s.used, make([]int, len(steps))...)
}

// pick takes the step for a request; the index is -1 if there is none.
func (s *script) pick(r Request) (int, Reply) {
	for i, step := range s.steps {
		if step.Times != Always && s.used[i] >= max(step.Times, 1) {
			continue
		}
		if !step.When.matches(r) {
			continue
		}
		s.used[i]++
		if step.Make != nil {
			return i, step.Make(r)
		}
		return i, step.Reply
	}
	return -1, Reply{}
}

// unused counts the steps that have answered less often than they were to.
func (s *script) unused() int {
	n := 0
	for i, step := range s.steps {
		if step.Times != Always && s.used[i] < max(step.Times, 1) {
			n++
		}
	}
	return n
}
