package main

import (
	"time"

	"agentd/messages"
)

// printer shows a session as things happen in it. One goroutine uses it.
type printer interface {
	// session comes first.
	session(head messages.Head, fresh bool) error
	// event tells what happened.
	event(event messages.Event) error
	// pause leaves what is drawn as it stands, because something else goes to the screen.
	pause()
	// result comes last, when the files are complete.
	result(o outcome) error
}

// outcome is how a turn ended, and what is left of it.
type outcome struct {
	session messages.SessionID
	turn    messages.Turn
	took    time.Duration
	// sessionFile and artifacts are paths.
	sessionFile string
	artifacts   []string
	// denied are the calls that nobody could be asked about.
	denied []deniedLine
}

// exitCode is the exit code of a program that only ran this turn.
func (o outcome) exitCode() int {
	code := exitCodeOfTurn(o.turn.Status)
	if code == exitOK && len(o.denied) > 0 {
		return exitDenied
	}
	return code
}

// jsonPrinter writes events as JSON lines.
type jsonPrinter struct{ lines jsonLines }

var _ printer = jsonPrinter{}

// session implements [printer].
func (p jsonPrinter) session(head messages.Head, fresh bool) error {
	return p.lines.write(sessionOpenedLine{Kind: "session", Session: head.ID, Agent: head.AgentID, Fresh: fresh})
}

// event implements [printer].
func (p jsonPrinter) event(event messages.Event) error { return p.lines.write(event) }

// pause implements [printer].
func (jsonPrinter) pause() {}

// result implements [printer].
func (p jsonPrinter) result(o outcome) error {
	if o.artifacts == nil {
		o.artifacts = []string{}
	}
	return p.lines.write(resultLine{
		Kind: "result", Session: o.session, Status: o.turn.Status, Turn: o.turn, SessionFile: o.sessionFile,
		Artifacts: o.artifacts, Denied: o.denied, ExitCode: o.exitCode(),
	})
}
