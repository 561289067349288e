package workspaceread

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"agentd/presets"
)

// Limits of a reading.
const (
	defaultReadBytes = 48 << 10
	maxReadBytes     = 96 << 10
	// maxScanBytes is how far into a file lines are counted.
	maxScanBytes = 256 << 20
	// checkEvery is after how many lines the context is looked at.
	checkEvery = 1024
)

const readSchema = `{"type":"object","properties":{
"path":{"type":"string","description":"The file, relative to the workspace."},
"start_line":{"type":"integer","minimum":1,"description":"The first line, from 1."},
"end_line":{"type":"integer","minimum":1,"description":"The last line."},
"max_bytes":{"type":"integer","minimum":1,"maximum":98304,"description":"How much text at most; 49152 without it."}},
"required":["path"],"additionalProperties":false}`

type readArguments struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	MaxBytes  int    `json:"max_bytes"`
}

type readAnswer struct {
	OK   bool   `json:"ok"`
	Path string `json:"path"`
	// Size is that of the whole file, in bytes.
	Size int64 `json:"size"`
	// Text is whole lines; StartLine and EndLine say which. Both are zero if there are none.
	Text      string `json:"text"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	// TotalLines is set if the end of the file was reached.
	TotalLines int    `json:"total_lines,omitempty"`
	Binary     bool   `json:"binary,omitempty"`
	Truncated  bool   `json:"truncated"`
	Note       string `json:"note,omitempty"`
}

func read(ctx context.Context, env presets.Env, in readArguments) (presets.Result, error) {
	if in.EndLine != 0 && in.EndLine < in.StartLine {
		return presets.Result{}, fmt.Errorf("end_line %d lies before start_line %d", in.EndLine, in.StartLine)
	}
	workspace, local, err := open(env, in.Path)
	if err != nil {
		return presets.Result{}, err
	}
	defer workspace.Close()
	file, info, err := workspace.OpenFile(local)
	if err != nil {
		return presets.Result{}, err
	}
	defer file.Close()
	answer := readAnswer{OK: true, Path: filepath.ToSlash(local), Size: info.Size()}
	if err := answer.fill(ctx, newLines(file), in); err != nil {
		return presets.Result{}, fmt.Errorf("reading %q: %w", local, err)
	}
	return presets.JSON(answer)
}

// fill reads the wanted lines.
func (a *readAnswer) fill(ctx context.Context, text *lines, in readArguments) error {
	binary, err := text.binary()
	if err != nil {
		return err
	}
	if binary {
		a.Binary, a.Note = true, "It is a binary file; its content is not shown."
		return nil
	}
	limit := readLimit{text: budget{left: min(cmp.Or(in.MaxBytes, defaultReadBytes), maxReadBytes)}, answer: budget{left: answerBytes}}
	first := max(in.StartLine, 1)
	var out strings.Builder
	var line []byte
	for {
		if line, err = text.next(line); err != nil {
			break
		}
		if text.number%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if text.bytes > maxScanBytes {
			a.cut(fmt.Sprintf("The first %d bytes of the file were looked at.", int64(maxScanBytes)))
			break
		}
		if text.number < first {
			continue
		}
		if in.EndLine != 0 && text.number > in.EndLine {
			break
		}
		if !a.add(&out, text, line, &limit) {
			break
		}
	}
	a.Text = out.String()
	return a.end(text, err, first)
}

// readLimit bounds the text that was asked for, and the answer as JSON.
type readLimit struct{ text, answer budget }

func (l *readLimit) take(line string) bool {
	return l.text.take(len(line)+1) && l.answer.take(encoded(line)+2)
}

// add takes one line, if it fits.
func (a *readAnswer) add(out *strings.Builder, text *lines, line []byte, limit *readLimit) bool {
	valid := strings.ToValidUTF8(string(line), "\uFFFD")
	if !limit.take(valid) {
		if a.EndLine == 0 { // Not even one line fits: show its start rather than nothing. Control characters take six bytes each.
			room := min(limit.text.left, limit.answer.left/6)
			valid = strings.ToValidUTF8(valid[:min(max(room-1, 0), len(valid))], "")
			out.WriteString(valid + "\n")
			a.StartLine, a.EndLine = text.number, text.number
			a.cut(fmt.Sprintf("Line %d is longer than \"max_bytes\"; its start is shown.", text.number))
			return false
		}
		a.cut(fmt.Sprintf("More lines follow; go on with \"start_line\": %d.", text.number))
		return false
	}
	if text.cut {
		a.cut(fmt.Sprintf("Line %d is longer than %d bytes; its start is shown.", text.number, maxLineBytes))
	}
	out.WriteString(valid)
	out.WriteByte('\n')
	a.StartLine, a.EndLine = cmp.Or(a.StartLine, text.number), text.number
	return true
}

// end says how the reading ended.
func (a *readAnswer) end(text *lines, err error, first int) error {
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case err != nil:
		a.TotalLines = text.number
		if a.EndLine == 0 && first > 1 {
			return fmt.Errorf("%w: it has %d lines, so there is no line %d", fs.ErrNotExist, text.number, first)
		}
	}
	return nil
}

func (a *readAnswer) cut(note string) {
	a.Truncated = true
	if a.Note != "" {
		a.Note += " "
	}
	a.Note += note
}
