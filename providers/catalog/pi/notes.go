package pi

import (
	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// notes are what a program that was made from pi notes beside the conversation. The last one of each kind counts.
type notes struct {
	branch, repository string
	placed             bool // the repository was looked at
	archived, put      bool // put tells whether a state was noted
	summary            string
	basis              float64 // how many messages the summary is of
	counted            bool    // every message was seen, so that basis can be compared
}

// git takes a note of the repository.
func (n *notes) git(v bounded.Value, backward bool) {
	if !v.IsObject() || backward && n.placed {
		return
	}
	n.branch, n.repository, n.placed = "", "", true
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "branch":
			n.branch = v.Text(4 * catalog.MaxLabelBytes)
		case "repoUrl":
			n.repository = v.Text(catalog.MaxTextBytes)
		}
	}
}

// state takes a note of whether the session was put away.
func (n *notes) state(v bounded.Value, backward bool) {
	if backward && n.put {
		return
	}
	status := bounded.Pick(v.Raw, "status")
	n.archived, n.put = status.Equal("archived") || status.Equal("sleep"), true
}

// status takes the agent's own account of where it stands. messages is how many messages were seen on this side of it.
func (n *notes) status(v bounded.Value, backward bool, messages int) {
	if backward && (n.summary != "" || messages > 0) {
		return // It is of a conversation that went on.
	}
	for key, v := range bounded.Fields(v.Raw) {
		switch string(key) {
		case "summary":
			n.summary = v.Text(catalog.MaxTextBytes)
		case "basedOnMessageCount":
			n.basis, _ = v.Number()
		}
	}
	n.counted = !backward
}

// recap returns the agent's account, unless messages came after it.
func (n *notes) recap(messages int) string {
	if n.counted && n.basis != float64(messages) {
		return ""
	}
	return n.summary
}

// before joins the notes of the head of a transcript with those of its tail.
func (n notes) before(tail notes) notes {
	if !tail.placed {
		tail.branch, tail.repository = n.branch, n.repository
	}
	if !tail.put {
		tail.archived = n.archived
	}
	return tail
}
