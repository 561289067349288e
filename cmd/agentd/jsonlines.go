package main

import (
	"io"

	"agentd/cmd/internal/screen"
	"agentd/messages"
	"agentd/persistence"
)

const jsonLinesTopic = `With --json, standard output is one JSON object a line, UTF-8, without colour. "kind" says what a line is. Lines
only gain fields and kinds; pass over what you do not know. Times are Unix seconds.

agentd run --json
  {"kind":"session","session":ID,"agent":ID,"fresh":BOOL}      first: the session of the turn
  {"kind":"turn-started","session":ID,"seq":N,"turn":TURN}     the turn runs
  {"kind":"item","session":ID,"seq":N,"item":ITEM}             a new item, durable
  {"kind":"item-updated","session":ID,"seq":N,"item":ITEM}     an item changed, durable: the whole item again
  {"kind":"draft","session":ID,"item":ITEM}                    text that still grows: all of it so far
  {"kind":"data","session":ID,"seq":N,"key":KEY}               the agent stored something
  {"kind":"turn-cancelling","session":ID,"turn":TURN}          a cancel is being carried out
  {"kind":"turn-ended","session":ID,"seq":N,"turn":TURN}       how it ended
  {"kind":"result","session":ID,"status":STATUS,"turn":TURN,"session-file":PATH,"artifacts":[PATH],
   "denied":[{"tool":NAME,"risk":RISK}],"exit-code":N}         last; the files are complete now
  {"kind":"error","error":TEXT,"exit-code":N}                  instead of a result, when there was no turn
  "seq" grows by one with each durable change of the session. A turn that was already running and was
  cancelled by this prompt, or interrupted by a crash, may tell its own ending first: look at "turn.id".

agentd sessions list --json       {"kind":"session","session":HEAD}, or {"kind":"bad-session","id":ID,"error":TEXT}
agentd sessions show --json       {"kind":"session","session":HEAD}, then {"kind":"item","position":N,"item":ITEM}
agentd sessions tail --json       {"kind":"item",...}, {"kind":"item-updated",...} and {"kind":"turn-ended",...} as above
agentd agents --json              {"kind":"agent","id":ID,"name":TEXT}, with "error" if it cannot be used
agentd presets --json             {"kind":"preset","name":NAME,"risk":RISK,"override":auto|on|off,"active":BOOL,...}
agentd approvals --json           {"kind":"approval","grant":GRANT}
agentd doctor --json              {"kind":"check","name":TEXT,"health":ok|warning|fault,"text":TEXT,"mend":TEXT}
agentd repair --json              one report: {"quarantine":PATH,"records":N,"bad-lines":[...],"sessions":[...],"untouched":[PATH]}
agentd sessions export --format json
                                  one JSON document: {"head":HEAD,"items":[ITEM]}

ITEM    {"id","type":message|reasoning|tool-call|tool-result|event|error,"role","content","name","arguments" (JSON text),
         "output","is-error","call-id","status","error","event-type","data","stream-status","parent-id","turn-id",
         "provider","model","usage","seq","created-at","updated-at"}; what is empty is left out
TURN    {"id","status":running|cancelling|completed|failed|cancelled|interrupted,"result","error","started-at","ended-at","seq"}
HEAD    {"schema","id","agent-id","status","created-at","updated-at","item-count","turn-count","last-seq","epoch","turn","data"}`

// jsonLines writes one JSON object a line.
type jsonLines struct{ out io.Writer }

// write writes one line. No control character gets through, also none of those that JSON allows.
func (j jsonLines) write(value any) error {
	line, err := screen.EncodeJSON(value)
	if err != nil {
		return err
	}
	_, err = j.out.Write(line)
	return err
}

// Lines of their own. Events are written as package messages spells them.
type (
	sessionOpenedLine struct {
		Kind    string             `json:"kind"`
		Session messages.SessionID `json:"session"`
		Agent   messages.AgentID   `json:"agent"`
		Fresh   bool               `json:"fresh"`
	}
	resultLine struct {
		Kind        string              `json:"kind"`
		Session     messages.SessionID  `json:"session"`
		Status      messages.TurnStatus `json:"status"`
		Turn        messages.Turn       `json:"turn"`
		SessionFile string              `json:"session-file"`
		Artifacts   []string            `json:"artifacts"`
		Denied      []deniedLine        `json:"denied,omitempty"`
		ExitCode    int                 `json:"exit-code"`
	}
	deniedLine struct {
		Tool string        `json:"tool"`
		Risk messages.Risk `json:"risk"`
	}
	errorLine struct {
		Kind     string `json:"kind"`
		Error    string `json:"error"`
		ExitCode int    `json:"exit-code"`
	}
	headLine struct {
		Kind    string        `json:"kind"`
		Session messages.Head `json:"session"`
	}
	badLine struct {
		Kind  string             `json:"kind"`
		ID    messages.SessionID `json:"id"`
		Error string             `json:"error"`
	}
	itemLine struct {
		Kind     string         `json:"kind"`
		Position int            `json:"position"`
		Item     *messages.Item `json:"item"`
	}
)

func newBadLine(bad persistence.BadSession) badLine {
	return badLine{Kind: "bad-session", ID: bad.ID, Error: bad.Err.Error()}
}
