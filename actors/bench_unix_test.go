//go:build !windows

package actors_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is what this process has used of the processors.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// pageFaults is how many pages this process has touched for the first time.
func pageFaults(b *testing.B) int64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Minflt
}

// faultTime is what the system takes for one page that is touched for the first time: a quarter of a microsecond on bare metal, sixty times
// that in some virtual machines.
func faultTime(b *testing.B) time.Duration {
	b.Helper()
	const pages = 4096
	size := syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, pages*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	for page := range pages {
		memory[page*size] = 1
	}
	took := time.Since(begun) / pages
	if err := syscall.Munmap(memory); err != nil {
		b.Fatal(err)
	}
	return took
}
