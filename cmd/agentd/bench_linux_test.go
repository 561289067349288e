package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkIdleMemory is the resident memory of an agentd process that has run one turn and waits for the next.
func BenchmarkIdleMemory(b *testing.B) {
	program := filepath.Join(b.TempDir(), "agentd")
	build := exec.CommandContext(b.Context(), "go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // As make build does.
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building agentd: %v\n%s", err, out)
	}
	var resident int64
	for b.Loop() {
		resident = idleMemory(b, program)
	}
	b.ReportMetric(float64(resident)/1024, "MiB")
	b.ReportMetric(0, "ns/op")
}

// idleMemory starts a process, lets it answer once, and returns its resident memory in KiB.
func idleMemory(b *testing.B, program string) int64 {
	b.Helper()
	command := exec.CommandContext(b.Context(), program, "--data-dir", b.TempDir(), "chat")
	input, err := command.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Fprintln(input, "say hello"); err != nil {
		b.Fatal(err)
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if bytes.HasPrefix(lines.Bytes(), []byte("completed")) {
			break
		}
	}
	resident := residentKiB(b, command.Process.Pid)
	if err := input.Close(); err != nil {
		b.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		b.Fatal(err)
	}
	return resident
}

func residentKiB(b *testing.B, pid int) int64 {
	b.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib
		}
	}
	b.Fatal("the process has no VmRSS")
	return 0
}
