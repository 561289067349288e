package process

import (
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	const rest = " S 12 34 56 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987 1000 10 18446744073709551615"
	tests := []struct {
		name, line string
		want       row
		ok         bool
	}{
		{name: "plain", line: "7 (sh)" + rest, want: row{pid: 7, ppid: 12, pgrp: 34, session: 56, start: 987}, ok: true},
		{name: "name with everything in it", line: "7 (a) R 1 (b\n)" + rest, want: row{pid: 7, ppid: 12, pgrp: 34, session: 56, start: 987}, ok: true},
		{name: "zombie", line: "7 (sh) Z 12 34 56 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987", want: row{pid: 7, ppid: 12, pgrp: 34, session: 56, start: 987, dead: true}, ok: true},
		{name: "empty"},
		{name: "cut short", line: "7 (sh) S 12 34"},
		{name: "no name", line: "7 S 12 34 56 0"},
		{name: "no number", line: "x (sh)" + rest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := parseStat([]byte(tt.line))
			if got != tt.want || ok != tt.ok {
				t.Errorf("parseStat(%q) = %+v, %t, want %+v, %t", tt.line, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestOwnRow(t *testing.T) {
	t.Parallel()
	table, err := processTable()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table {
		if r.pid == os.Getpid() {
			if r.ppid != os.Getppid() || r.dead || r.start == 0 {
				t.Errorf("own row = %+v, want parent %d, living", r, os.Getppid())
			}
			return
		}
	}
	t.Error("the table does not have this process")
}

func TestHasMark(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, env string
		want      bool
	}{
		{name: "own", env: "A=1\x00" + MarkerEnv + "=outer:me\x00B=2", want: true},
		{name: "of an inner process", env: MarkerEnv + "=outer:me:inner", want: true},
		{name: "longer id", env: MarkerEnv + "=outer:mean"},
		{name: "of the outer process", env: MarkerEnv + "=outer"},
		{name: "other variable", env: "X" + MarkerEnv + "=outer:me"},
		{name: "empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := hasMark([]byte(tt.env), "outer:me"); got != tt.want {
				t.Errorf("hasMark(%q) = %t, want %t", tt.env, got, tt.want)
			}
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (sh) S 12 34 56 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987 1000"))
	f.Add([]byte("7 (a) b) Z"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, ok := parseStat(line); ok && r.pid <= 0 {
			t.Errorf("parseStat(%q) = %+v, a process without a number", line, r)
		}
	})
}
