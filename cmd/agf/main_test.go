package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary agf itself when it is called by that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"agf": func() { os.Exit(start()) }})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			for _, kv := range furnish(env.T().(testing.TB), env.WorkDir) {
				name, value, _ := strings.Cut(kv, "=")
				if name == "PATH" {
					value += string(filepath.ListSeparator) + env.Getenv("PATH")
				}
				env.Setenv(name, value)
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "tree": tree},
	})
}

// furnish makes a home with the stores of testdata/home below dir, the folders that their sessions name, and a stand-in for Claude Code. It
// returns the environment of a process that lives there.
func furnish(tb testing.TB, dir string) []string {
	tb.Helper()
	put := func(path string, data []byte, mode os.FileMode) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, data, mode); err != nil {
			tb.Fatal(err)
		}
	}
	source := filepath.Join("testdata", "home")
	err := filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(source, path)
		put(filepath.Join(dir, "home", rel), bytes.ReplaceAll(data, []byte("@WORK@"), []byte(filepath.ToSlash(dir))), 0o600)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	for _, folder := range []string{"app", "site"} {
		put(filepath.Join(dir, folder, "README"), nil, 0o600)
	}
	put(filepath.Join(dir, "bin", "claude"), []byte("#!/bin/sh\necho started >> "+filepath.Join(dir, "started")+"\n"), 0o755)
	home := filepath.Join(dir, "home")
	return []string{
		"HOME=" + home, "USERPROFILE=" + home, "PATH=" + filepath.Join(dir, "bin"), "XDG_CACHE_HOME=" + filepath.Join(dir, "cache"),
		"GORACE=atexit_sleep_ms=0", // Under the race detector each of the many processes would else wait a second at its end.
	}
}

// place is a furnished home for tests that are no scripts.
type place struct {
	tb  testing.TB
	dir string
	env []string
}

func newPlace(tb testing.TB) *place {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return &place{tb, dir, furnish(tb, dir)}
}

// command returns agf as a process that lives there.
func (p *place) command(ctx context.Context, args ...string) *exec.Cmd {
	p.tb.Helper()
	program, err := exec.LookPath("agf")
	if err != nil {
		p.tb.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = p.env, p.dir
	return cmd
}

// run runs agf to its end. In what it wrote the place is called @WORK@.
func (p *place) run(args ...string) (stdout, stderr string, code int) {
	p.tb.Helper()
	var out, diagnostics bytes.Buffer
	cmd := p.command(p.tb.Context(), args...)
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		p.tb.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), p.dir, "@WORK@"), diagnostics.String(), cmd.ProcessState.ExitCode()
}

// exits runs a program and expects an exit code: exits CODE PROGRAM ARGUMENTS.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGUMENTS")
	}
	code := 0
	var failed *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
		code = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("running %q: %v", args[1:], err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%q exited with %d, want %s", args[1:], code, args[0])
	}
}

// tree writes down everything below a folder: tree FOLDER FILE.
func tree(ts *testscript.TestScript, _ bool, args []string) {
	text, err := listing(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// listing describes everything below a folder: names, modes, times, sizes, contents.
func listing(dir string) (string, error) {
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s %s %d", path, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " %d %x", len(data), sha256.Sum256(data))
		}
		out.WriteByte('\n')
		return nil
	})
	return out.String(), err
}
