//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// sees runs agf in a terminal of 100 columns and returns what stands on it.
func (p *place) sees(more []string, args ...string) string {
	p.tb.Helper()
	return p.seesIn(100, more, args...)
}

// seesIn is sees in a terminal of so many columns.
func (p *place) seesIn(columns uint16, more []string, args ...string) string {
	p.tb.Helper()
	cmd := p.command(p.tb.Context(), args...)
	cmd.Env = append(append(cmd.Env, "TERM=xterm"), more...)
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: columns})
	if err != nil {
		p.tb.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := io.Copy(&out, screen); err != nil && !errors.Is(err, syscall.EIO) { // Linux ends a terminal so.
		p.tb.Fatal(err)
	}
	if err := errors.Join(cmd.Wait(), screen.Close()); err != nil {
		p.tb.Fatalf("agf %q: %v; it said %q", args, err, out.String())
	}
	return out.String()
}

func TestListInATerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	plain := p.sees([]string{"NO_COLOR=1"}, "list", "-n", "2")
	for _, want := range []string{"ago  codex   55555555  app", "ago  claude  22222222  gone", "3 more; \"-n 0\" lists all."} {
		if !strings.Contains(plain, want) {
			t.Errorf("the screen shows %q, want %q", plain, want)
		}
	}
	if strings.ContainsRune(plain, '\x1b') || strings.Contains(plain, "55555555-") {
		t.Errorf("the screen shows %q, want short ids and no escapes", plain)
	}
	if long := p.sees(nil, "list", "--long"); !strings.Contains(long, "55555555-0000-4000-8000-000000000006") || !strings.Contains(long, p.dir) {
		t.Errorf("the screen shows %q, want whole ids and paths", long)
	}
	if coloured := p.sees(nil, "list"); !strings.Contains(coloured, "\x1b[2mACTIVE") {
		t.Errorf("the screen shows %q, want a dim heading", coloured)
	}
	if none := p.sees(nil, "list", "zyxwqqq"); !strings.Contains(none, `"agf doctor" tells`) {
		t.Errorf("the screen shows %q, want where to look", none)
	}
	for line := range strings.Lines(strings.ReplaceAll(plain, "\r", "")) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 100 && !strings.HasPrefix(line, "agf: ") {
			t.Errorf("the line %q has %d columns, want at most 100", line, n)
		}
	}
}

// TestDoctorInANarrowTerminal holds that what was left out can be read where it has no room in the table.
func TestDoctorInANarrowTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, columns := range []uint16{60, 80, 200} {
		shown := strings.ReplaceAll(p.seesIn(columns, []string{"NO_COLOR=1"}, "doctor"), "\r", "")
		table, _, _ := strings.Cut(shown, "\nNo store of ")
		table, _, _ = strings.Cut(table, "\ncodex: ")
		if !strings.Contains(table, "1 corrupt") {
			t.Errorf("a terminal of %d columns shows %q, want what was left out", columns, shown)
		}
		for line := range strings.Lines(table) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > int(columns) {
				t.Errorf("the line %q has %d columns, want at most %d", line, n, columns)
			}
		}
	}
}

// TestBrokenPipeOfAProcess holds that a process whose output nobody reads ends without a word.
func TestBrokenPipeOfAProcess(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, args := range [][]string{{"search"}, {"list", "--no-cache"}, {"doctor"}} {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd := p.command(t.Context(), args...)
		cmd.Stdout, cmd.Stderr = writer, &stderr
		_ = reader.Close()
		err = cmd.Run()
		_ = writer.Close()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || stderr.Len() > 0 {
			t.Errorf("agf %q ended with %v and said %q, want an end without a word", args, err, stderr.String())
			continue
		}
		if status, ok := ended.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGPIPE {
			t.Errorf("agf %q ended with %v, want the signal of a broken pipe", args, ended)
		}
	}
}
