package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of requests and answers. They are part of the contract.
const (
	// MaxPage is the largest page of a search, in sessions.
	MaxPage = 200
	// DefaultPage is the page when no limit is given.
	DefaultPage = 20
	// MaxOffset is the largest offset of a search.
	MaxOffset = 1_000_000
	// MaxQueryBytes bounds a query.
	MaxQueryBytes = 1024
	// MaxIDBytes bounds a session id.
	MaxIDBytes = 1024
	// MaxPathBytes bounds a project path and a worktree.
	MaxPathBytes = 4096
	// MaxNameBytes bounds the name of an agent or a mode in a request.
	MaxNameBytes = 64
	// MaxSummaries is how many summaries an answer holds for each session.
	MaxSummaries = 3
	// MaxSummaryBytes bounds a summary and a recap in an answer.
	MaxSummaryBytes = 1024
	// MaxLabelBytes bounds a project name and a branch in an answer.
	MaxLabelBytes = 256
)

// ValidID reports whether a session id can stand in an answer and on a command line: 1 to [MaxIDBytes] bytes of
// UTF-8, no control characters, no leading hyphen.
func ValidID(id string) bool {
	return id != "" && len(id) <= MaxIDBytes && id[0] != '-' && utf8.ValidString(id) && !strings.ContainsFunc(id, unicode.IsControl)
}

func checkID(id string) error {
	if !ValidID(id) {
		return failf(InvalidRequest, "session_id must have 1 to %d bytes, no control characters and no leading hyphen", MaxIDBytes)
	}
	return nil
}
