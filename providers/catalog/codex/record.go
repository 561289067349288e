package codex

import (
	"strings"

	"agentd/providers/catalog"
	"agentd/providers/catalog/bounded"
)

// record is one line of a rollout. Values point into the line.
type record struct {
	kind, timestamp, payload bounded.Value
}

// decode picks the envelope of a line. A line of an old version has none: it is the payload itself.
func decode(data []byte) record {
	var r record
	var id bounded.Value
	for key, v := range bounded.Fields(data) {
		switch string(key) {
		case "type":
			r.kind = v
		case "timestamp":
			r.timestamp = v
		case "payload":
			r.payload = v
		case "id":
			id = v
		}
	}
	if r.payload.Exists() {
		return r
	}
	r.payload = bounded.Value{Raw: data}
	switch {
	case !r.kind.Exists() && id.Exists():
		r.kind = bounded.Value{Raw: []byte(`"session_meta"`)}
	case r.kind.Exists():
		r.kind = bounded.Value{Raw: []byte(`"response_item"`)}
	}
	return r
}

// identity is what the first line says.
type identity struct {
	id, cwd, branch, repository string
	started                     int64
	headless, subAgent          bool
	parent, forkedFrom          string
}

// identify decodes the payload of a first line.
func identify(payload bounded.Value) identity {
	var m identity
	var session, origin string
	var source, threadSource, timestamp bounded.Value
	var role bool
	for key, v := range bounded.Fields(payload.Raw) {
		switch string(key) {
		case "id":
			m.id = v.Text(catalog.MaxIDBytes + 1)
		case "session_id":
			session = v.Text(catalog.MaxIDBytes + 1)
		case "timestamp":
			timestamp = v
		case "cwd":
			m.cwd = v.Text(catalog.MaxPathBytes + 1)
		case "originator":
			origin = v.Text(128)
		case "source":
			source = v
		case "thread_source":
			threadSource = v
		case "agent_role":
			role = len(v.Bytes()) > 0
		case "parent_thread_id":
			m.parent = v.Text(catalog.MaxIDBytes)
		case "forked_from_id":
			m.forkedFrom = v.Text(catalog.MaxIDBytes)
		case "git":
			m.branch = bounded.Pick(v.Raw, "branch").Text(4 * catalog.MaxLabelBytes)
			m.repository = bounded.Pick(v.Raw, "repository_url").Text(catalog.MaxTextBytes)
		}
	}
	if m.id == "" {
		m.id = session
	}
	m.started = bounded.Millis(timestamp)
	origins := origin
	if source.Exists() {
		origins = "" // The program that it ran in says less than who asked for it.
	}
	who := startedBy(source.Raw, threadSource.Text(64), origins)
	m.headless, m.subAgent = who.headless, who.subAgent || role
	if m.parent == "" {
		m.parent = who.parent
	}
	return m
}

// starter tells who started a session.
type starter struct {
	headless, subAgent bool
	parent             string
}

// startedBy reads the source of a session, as JSON or as the bare word that a database holds.
func startedBy(source []byte, threadSource, originator string) starter {
	var s starter
	word := strings.Trim(string(source[:min(len(source), 64)]), `"`)
	switch {
	case word == "exec" || word == "mcp" || threadSource == "exec":
		s.headless = true
	case strings.HasPrefix(word, "subagent") || strings.HasPrefix(word, "internal") || threadSource == "subagent" || threadSource == "memory_consolidation":
		s.subAgent = true
	case originator == "codex_exec" || strings.HasPrefix(originator, "codex_sdk"):
		s.headless = true
	}
	if !strings.HasPrefix(word, "{") {
		return s
	}
	for key, v := range bounded.Fields(source) {
		switch string(key) {
		case "subagent", "internal":
			s.subAgent = true
			s.parent = bounded.Pick(v.Raw, "thread_spawn.parent_thread_id").Text(catalog.MaxIDBytes)
		}
	}
	return s
}
