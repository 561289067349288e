package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"agentd/cmd/internal/screen"
	"agentd/messages"
	"agentd/presets"
)

// decide gets an answer to a request: from the person, or, if nobody is there, a denial. Meanwhile events wait, but for those that
// withdraw the question. It reports whether the turn has ended.
func (d *driver) decide(request presets.Request) (ended bool, err error) {
	if d.ask == nil {
		return false, d.deny(request)
	}
	d.out.pause()
	waiting, err := d.question(request)
	if err != nil {
		return false, err
	}
	for _, next := range waiting {
		if ended, err = d.show(next); ended || err != nil {
			return ended, err
		}
	}
	return false, nil
}

// question asks, and returns what happened meanwhile.
func (d *driver) question(request presets.Request) (waiting []fed, err error) {
	withdrawn := make(chan struct{})
	answered := make(chan error, 1)
	go func() { answered <- d.answer(request, withdrawn) }()
	for {
		select {
		case err := <-answered:
			return waiting, err
		case next := <-d.feed.events:
			if next.event.Kind != messages.EventDraft {
				waiting = append(waiting, next)
			}
			if withdraws(next, request.ID) {
				close(withdrawn)
				return waiting, <-answered
			}
		}
	}
}

// withdraws reports whether nothing is left to be asked: the turn ends, or somebody else has decided.
func withdraws(next fed, id messages.RequestID) bool {
	if next.err != nil {
		return true
	}
	if next.approval != nil {
		return next.approval.Decision != nil && next.approval.Request.ID == id
	}
	switch next.event.Kind {
	case messages.EventTurnCancelling, messages.EventTurnEnded, messages.EventDeleted:
		return true
	case messages.EventItem, messages.EventItemUpdated, messages.EventDraft, messages.EventData, messages.EventTurnStarted:
		return false
	default:
		return false
	}
}

// answer asks the person and carries out what they say.
func (d *driver) answer(request presets.Request, withdrawn <-chan struct{}) error {
	answer, err := d.ask(request, withdrawn)
	switch {
	case errors.Is(err, errWithdrawn):
		return nil
	case errors.Is(err, io.EOF):
		answer = presets.Answer{Verb: presets.Deny, Who: d.app.person(), Reason: "no answer"}
	case err != nil:
		return err
	}
	return d.carryOut(request, answer)
}

// deny answers for a person who is not there.
func (d *driver) deny(request presets.Request) error {
	d.denied = append(d.denied, deniedLine{Tool: request.Name, Risk: request.Risk})
	reason := fmt.Sprintf("nobody can be asked here: run it in a terminal, or with --yes-risk %s", request.Risk)
	d.app.complain("agentd: denied %s (%s) %s: %s", screen.CleanLine(request.Name), request.Risk, screen.CleanLine(request.Preview), reason)
	return d.carryOut(request, presets.Answer{Verb: presets.Deny, Who: "agentd", Reason: reason})
}

// carryOut tells the runtime. A request that has gone meanwhile needs no answer any more.
func (d *driver) carryOut(request presets.Request, answer presets.Answer) error {
	if answer.Verb == presets.ApproveAlways {
		answer.Scope = presets.Scope{AgentID: request.AgentID}
	}
	err := d.host.runtime.Approvals().Decide(context.Background(), request.ID, answer)
	if errors.Is(err, presets.ErrUnknownRequest) {
		return nil
	}
	return err
}
