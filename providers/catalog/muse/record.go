package muse

import (
	"iter"

	"agentd/providers/catalog/bounded"
)

// record is a record of a log. Values point into what it was decoded from.
type record struct {
	id, stream, kind, payload bounded.Value
	at                        int64
	children                  bounded.Value // of a frame
}

func decode(data []byte) record {
	var r record
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "id":
			r.id = v
		case "stream":
			r.stream = v
		case "payload_type":
			r.kind = v
		case "payload":
			r.payload = v
		case "recorded_at":
			r.at = bounded.Millis(v)
		case "children":
			r.children = v
		}
	}
	return r
}

// own reports whether the record belongs to a session, and not to something that it started.
func (r *record) own(id string) bool {
	var kind, stream bounded.Value
	for key, v := range bounded.Fields(r.stream.Raw) {
		switch string(key) {
		case "kind":
			kind = v
		case "id":
			stream = v
		}
	}
	return kind.Equal("session") && stream.Text(len(id)+1) == id
}

// maxChildren bounds the records of a frame.
const maxChildren = 10_000

// unpacked iterates over the records that a line holds: itself, and those in it when it is a frame.
func unpacked(data []byte) iter.Seq[record] {
	return func(yield func(record) bool) {
		r := decode(data)
		if !yield(r) {
			return
		}
		left := maxChildren
		children := r.children
		if !children.Exists() {
			children = bounded.Pick(r.payload.Raw, "children")
		}
		for child := range bounded.Elements(children.Raw) {
			text := bounded.Pick(child.Raw, "record_json").Text(bounded.MaxLineBytes)
			if left--; left < 0 || text != "" && !yield(decode([]byte(text))) {
				return
			}
		}
	}
}

// event is what happened in a run.
type event struct {
	kind, prompt, text, calls, results bounded.Value
}

// run returns the event of a run, and false for every other record.
func (r *record) run() (e event, ok bool) {
	if !r.kind.Equal("runtime.session") {
		return e, false
	}
	var kind, inner bounded.Value
	for key, v := range bounded.Fields(r.payload.Raw) {
		switch string(key) {
		case "kind":
			kind = v
		case "event":
			inner = v
		}
	}
	for key, v := range bounded.Fields(inner.Raw) {
		switch string(key) {
		case "kind":
			e.kind = v
		case "prompt":
			e.prompt = v
		case "text":
			e.text = v
		case "tool_calls":
			e.calls = v
		case "results":
			e.results = v
		}
	}
	return e, kind.Equal("run")
}

// fact returns a member of what a record states: it stands in the payload's record, or in the payload itself.
func (r *record) fact(name string) bounded.Value {
	if v := bounded.Pick(r.payload.Raw, "record."+name); v.Exists() {
		return v
	}
	return bounded.Pick(r.payload.Raw, name)
}
