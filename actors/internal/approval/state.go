package approval

import (
	"cmp"
	"slices"

	"agentd/messages"
	"agentd/presets"
)

// Limits.
const (
	// MaxOpen is how many requests may be open at one time.
	MaxOpen = 4096
	// MaxOpenPerSession is how many of them one session may have.
	MaxOpenPerSession = 64
	// MaxWaiters is how many waiters one request may have.
	MaxWaiters = 256
	// MaxKept is how many approvals ahead are kept at one time; the oldest gives way.
	MaxKept = 4096
	// MaxGrants is how many grants may stand.
	MaxGrants = 10_000
)

// DefaultKeepFor is how many seconds an approval ahead is kept.
const DefaultKeepFor = 15 * 60

// Params are what approvals start with.
type Params struct {
	// Policy must be valid. Nil asks for everything but normal.
	Policy presets.Policy
	// Grants are those that were stored. Expired ones are left out.
	Grants []presets.Grant
	// RequestTTL is how many seconds a request stays open; zero means without limit.
	RequestTTL int64
	// KeepFor is how many seconds an approval ahead is kept; zero means [DefaultKeepFor].
	KeepFor int64
}

// State is all that approvals know. It is owned by one goroutine. Make one with [New].
type State struct {
	// Set at construction.
	requestTTL, keepFor int64

	policy  presets.Policy
	grants  *grantSet
	ledger  ledger
	kept    []keptApproval // the oldest first
	open    map[messages.RequestID]*request
	byKey   map[key]*request // the same requests; one for each key
	waiters map[WaiterID]*waiter
	// sequence orders requests of the same second.
	sequence uint64
	// due is not later than the first moment at which something expires; zero means that nothing does.
	due int64
	// stirred is what [State.TakeChange] will tell.
	stirred presets.Change
}

// key says which asks are identical: same session and agent, same exact call.
type key struct {
	session     messages.SessionID
	agent       messages.AgentID
	toolID      string
	risk        messages.Risk
	fingerprint string
}

func keyOf(caller presets.Caller, toolID string, risk messages.Risk, fingerprint string) key {
	return key{caller.SessionID, caller.AgentID, toolID, risk, fingerprint}
}

func askKey(ask presets.Ask) key { return keyOf(ask.Caller, ask.ToolID, ask.Risk, ask.Fingerprint) }

// request is an open question.
type request struct {
	id       messages.RequestID
	sequence uint64
	key      key
	first    presets.Ask // whose words people are shown
	created  int64
	expires  int64
	// calls wait for a decision of their own, the oldest first. aheadWaiters wait to hear of one that they will not use.
	calls, aheadWaiters []*waiter
	// ahead are the callers who asked for a later call.
	ahead []presets.Caller
	// deciding is set while the grant that answers it is being saved.
	deciding bool
}

// waiter is one Request that has not returned.
type waiter struct {
	id      WaiterID
	ask     presets.Ask
	request *request
}

// keptApproval is an approval once that was asked ahead and not yet used.
type keptApproval struct {
	key     key
	turn    messages.TurnID
	expires int64
	request messages.RequestID
	who     string
	reason  string
}

// New returns the state at a start. Nothing is open.
func New(params Params) *State {
	keepFor := params.KeepFor
	if keepFor <= 0 {
		keepFor = DefaultKeepFor
	}
	s := &State{
		requestTTL: max(params.RequestTTL, 0),
		keepFor:    keepFor,
		policy:     params.Policy.Clone(),
		grants:     newGrantSet(params.Grants),
		open:       map[messages.RequestID]*request{},
		byKey:      map[key]*request{},
		waiters:    map[WaiterID]*waiter{},
	}
	s.due = s.Deadline()
	return s
}

// note makes sure that the moment is not missed. Zero is no moment.
func (s *State) note(at int64) {
	if at != 0 && (s.due == 0 || at < s.due) {
		s.due = at
	}
}

// view is the request as people see it.
func (r *request) view() presets.Request {
	out := presets.Request{
		ID: r.id, Caller: r.first.Caller, CallID: r.first.CallID,
		ToolID: r.first.ToolID, Name: r.first.Name, Risk: r.first.Risk, Reason: r.first.Reason,
		Fingerprint: r.first.Fingerprint, Preview: r.first.Preview,
		Waiting: len(r.calls), Ahead: len(r.ahead) > 0 || len(r.aheadWaiters) > 0,
		CreatedAt: r.created, ExpiresAt: r.expires,
	}
	if len(r.calls) > 0 {
		out.CallID, out.TurnID = r.calls[0].ask.CallID, r.calls[0].ask.TurnID
	}
	return out
}

// wanted reports whether anybody still wants the answer.
func (r *request) wanted() bool {
	return len(r.calls) > 0 || len(r.aheadWaiters) > 0 || len(r.ahead) > 0
}

func (r *request) all() []*waiter { return slices.Concat(r.calls, r.aheadWaiters) }

func (r *request) drop(w *waiter) {
	same := func(other *waiter) bool { return other == w }
	r.calls = slices.DeleteFunc(r.calls, same)
	r.aheadWaiters = slices.DeleteFunc(r.aheadWaiters, same)
}

// inOrder returns the open requests, the oldest first.
func (s *State) inOrder() []*request {
	out := make([]*request, 0, len(s.open))
	for _, r := range s.open {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *request) int { return cmp.Compare(a.sequence, b.sequence) })
	return out
}
