package claude_test

import (
	"os"
	"syscall"
)

// peakMemory is the largest resident memory of a process that ended, in bytes.
func peakMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
