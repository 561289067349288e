package workspaceread

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"agentd/presets"
	"agentd/presets/builtin/folder"
)

// Limits of a search.
const (
	defaultMatches   = 200
	maxMatches       = 1000
	maxPatternBytes  = 1000
	maxMatchRunes    = 300
	maxSearchFiles   = 50_000
	maxSearchBytes   = 512 << 20
	maxSearchDepth   = 64
	maxSearchTime    = 30 * time.Second
	matchBytes       = 60 // What a match takes in an answer beside its path and text.
	maxSearchedBytes = 32 << 20
)

const searchSchema = `{"type":"object","properties":{
"pattern":{"type":"string","minLength":1,"maxLength":1000,"description":"The text to look for, or a regular expression (RE2)."},
"regexp":{"type":"boolean","description":"Take the pattern as a regular expression."},
"ignore_case":{"type":"boolean"},
"path":{"type":"string","description":"The folder or file to search, relative to the workspace."},
"files":{"type":"string","description":"Only files whose name matches, as \"*.go\"."},
"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"How many lines at most; 200 without it."}},
"required":["pattern"],"additionalProperties":false}`

type searchArguments struct {
	Pattern    string `json:"pattern"`
	Regexp     bool   `json:"regexp"`
	IgnoreCase bool   `json:"ignore_case"`
	Path       string `json:"path"`
	Files      string `json:"files"`
	Limit      int    `json:"limit"`
}

// match is one line that was found.
type match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	// Text is the line, or the part of a long one around what was found.
	Text string `json:"text"`
}

type searchAnswer struct {
	OK      bool    `json:"ok"`
	Matches []match `json:"matches"`
	// Files is how many files were searched; SkippedBinary, SkippedLarge and Unreadable how many were not.
	Files         int    `json:"files"`
	SkippedBinary int    `json:"skipped_binary,omitempty"`
	SkippedLarge  int    `json:"skipped_large,omitempty"`
	Unreadable    int    `json:"unreadable,omitempty"`
	Truncated     bool   `json:"truncated"`
	Note          string `json:"note,omitempty"`
}

func search(ctx context.Context, env presets.Env, in searchArguments) (presets.Result, error) {
	pattern, err := in.compile()
	if err != nil {
		return presets.Result{}, err
	}
	workspace, local, err := open(env, in.Path)
	if err != nil {
		return presets.Result{}, err
	}
	defer workspace.Close()
	info, err := workspace.Root().Stat(local)
	if err != nil {
		return presets.Result{}, err
	}
	deadline, stop := context.WithTimeoutCause(ctx, maxSearchTime, errFull)
	defer stop()
	s := searcher{
		ctx: deadline, workspace: workspace, pattern: pattern, names: in.Files, limit: min(cmp.Or(in.Limit, defaultMatches), maxMatches),
		budget: budget{left: answerBytes}, answer: searchAnswer{OK: true, Matches: []match{}},
	}
	if info.IsDir() {
		err = s.dir(local, 1)
	} else {
		err = s.file(local)
	}
	if ctx.Err() != nil {
		return presets.Result{}, context.Cause(ctx)
	}
	if deadline.Err() != nil {
		s.cut(fmt.Sprintf("The search was stopped after %s; narrow it with \"path\" or \"files\".", maxSearchTime))
	} else if err != nil && !errors.Is(err, errFull) {
		return presets.Result{}, err
	}
	return presets.JSON(s.answer)
}

// compile makes a regular expression of the pattern. Those of Go take linear time, so none can hold a call.
func (in searchArguments) compile() (*regexp.Regexp, error) {
	if len(in.Pattern) > maxPatternBytes {
		return nil, fmt.Errorf("pattern: it has more than %d bytes", maxPatternBytes)
	}
	if _, err := filepath.Match(in.Files, "x"); err != nil {
		return nil, fmt.Errorf("files %.80q: %w", in.Files, err)
	}
	text := in.Pattern
	if !in.Regexp {
		text = regexp.QuoteMeta(text)
	}
	if in.IgnoreCase {
		text = "(?i)" + text
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	return pattern, nil
}

// searcher goes through folders and collects what matches.
type searcher struct {
	ctx       context.Context //nolint:containedctx // It lives as long as one call.
	workspace *folder.Folder
	pattern   *regexp.Regexp
	names     string
	limit     int
	budget    budget
	bytes     int64
	answer    searchAnswer
	buffer    []byte
}

func (s *searcher) dir(name string, depth int) error {
	if depth > maxSearchDepth {
		s.cut(fmt.Sprintf("Folders below %d levels were not searched.", maxSearchDepth))
		return nil
	}
	entries, cut, err := readDir(s.workspace, name)
	if err != nil && depth > 1 {
		s.answer.Unreadable++
		return nil
	}
	if err != nil {
		return err
	}
	if cut {
		s.cut(fmt.Sprintf("%s has more than %d entries; only those were searched.", filepath.ToSlash(name), maxDirEntries))
	}
	for _, entry := range entries {
		if err := s.entry(filepath.Join(name, entry.Name()), entry, depth); err != nil {
			return err
		}
	}
	return nil
}

// entry searches a folder or a file. Links are not followed, so nothing is searched twice.
func (s *searcher) entry(path string, entry fs.DirEntry, depth int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	switch {
	case entry.IsDir() && !folder.IsVersionControl(entry.Name()):
		return s.dir(path, depth+1)
	case !entry.Type().IsRegular():
		return nil
	}
	if matches, _ := filepath.Match(s.names, entry.Name()); s.names != "" && !matches { // The pattern was checked before.
		return nil
	}
	if err := s.file(path); err != nil {
		if errors.Is(err, errFull) || s.ctx.Err() != nil {
			return err
		}
		s.answer.Unreadable++
	}
	return nil
}

func (s *searcher) file(path string) error {
	if s.answer.Files >= maxSearchFiles || s.bytes >= maxSearchBytes {
		s.cut(fmt.Sprintf("%d files of %d bytes were searched, which is the limit; narrow it with \"path\" or \"files\".", s.answer.Files, s.bytes))
		return errFull
	}
	file, info, err := s.workspace.OpenFile(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if info.Size() > maxSearchedBytes {
		s.answer.SkippedLarge++
		return nil
	}
	text := newLines(io.LimitReader(file, maxSearchedBytes))
	binary, err := text.binary()
	if err != nil {
		return err
	}
	if binary {
		s.answer.SkippedBinary++
		return nil
	}
	s.answer.Files++
	defer func() { s.bytes += text.bytes }()
	return s.lines(path, text)
}

func (s *searcher) lines(path string, text *lines) error {
	for {
		line, err := text.next(s.buffer)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.buffer = line
		if text.number%checkEvery == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if place := s.pattern.FindIndex(line); place != nil {
			if err := s.add(path, text.number, around(line, place[0])); err != nil {
				return err
			}
		}
	}
}

func (s *searcher) add(path string, line int, text string) error {
	if len(s.answer.Matches) >= s.limit {
		s.cut(fmt.Sprintf("Only the first %d lines are shown; raise \"limit\" or narrow the search.", s.limit))
		return errFull
	}
	if !s.budget.take(encoded(path) + encoded(text) + matchBytes) {
		s.cut("Only what fits into an answer is shown; narrow the search.")
		return errFull
	}
	s.answer.Matches = append(s.answer.Matches, match{Path: filepath.ToSlash(path), Line: line, Text: text})
	return nil
}

func (s *searcher) cut(note string) {
	s.answer.Truncated = true
	if s.answer.Note != "" {
		s.answer.Note += " "
	}
	s.answer.Note += note
}

// around is the line, or the part of a long one where something was found.
func around(line []byte, place int) string {
	runes := []rune(strings.ToValidUTF8(string(line), "\uFFFD"))
	if len(runes) <= maxMatchRunes {
		return string(runes)
	}
	before := len([]rune(strings.ToValidUTF8(string(line[:place]), "\uFFFD")))
	start := min(max(before-maxMatchRunes/3, 0), len(runes)-maxMatchRunes)
	out := string(runes[start : start+maxMatchRunes])
	if start > 0 {
		out = "…" + out
	}
	if start+maxMatchRunes < len(runes) {
		out += "…"
	}
	return out
}
