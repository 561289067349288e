package main

import "runtime/debug"

const (
	// heapPercent lets the heap grow before it is collected. Most commands end before the first collection, which would cost them more than the
	// search itself; the runtime starts to collect at four megabytes.
	heapPercent = 400
	// heapBytes is from where on memory is scarce again. With a store so large that more is in use, collections are frequent.
	heapBytes = 80 << 20
)

// tuneMemory sets how much memory is traded for time, unless the person at the keyboard did.
func tuneMemory(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(heapPercent)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapBytes)
	}
}
