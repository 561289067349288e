package bounded_test

import (
	"testing"
	"time"

	"agentd/providers/catalog/bounded"
)

func TestMillis(t *testing.T) {
	t.Parallel()
	const want = 1788264000123
	tests := []struct {
		name, raw string
		want      int64
	}{
		{"common", `"2026-09-01T12:00:00.123Z"`, want},
		{"nanoseconds", `"2026-09-01T12:00:00.123456789Z"`, want},
		{"no fraction", `"2026-09-01T12:00:00Z"`, want - 123},
		{"zone", `"2026-09-01T14:00:00.123+02:00"`, want},
		{"no zone", `"2026-09-01T12:00:00.123"`, want},
		{"blank", `"2026-09-01 12:00:00.123"`, want},
		{"last day of a month", `"2026-08-31T12:00:00.000Z"`, want - 123 - 86400000},
		{"day that is not", `"2026-02-30T12:00:00.000Z"`, 0},
		{"hour that is not", `"2026-09-01T24:00:00.000Z"`, 0},
		{"milliseconds", `1788264000123`, want},
		{"seconds", `1788264000`, want - 123},
		{"seconds with fraction", `1788264000.123`, want},
		{"microseconds", `1788264000123000`, want},
		{"nanoseconds", `1788264000123000000`, want},
		{"in quotes", `"1788264000123"`, want},
		{"zero", `0`, 0},
		{"negative", `-5000`, 0},
		{"huge", `1e300`, 0},
		{"before 2000", `"1999-01-01T00:00:00Z"`, 0},
		{"text", `"soon"`, 0},
		{"cut", `"2026-09-01T12:3`, 0},
		{"null", `null`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := bounded.Value{Raw: []byte(tt.raw), Cut: tt.name == "cut"}
			if got := bounded.Millis(v); got != tt.want {
				t.Errorf("Millis(%s) = %d, want %d", tt.raw, got, tt.want)
			}
		})
	}
}

func TestUnixMillis(t *testing.T) {
	t.Parallel()
	tests := []struct {
		n    int64
		unit time.Duration
		want int64
	}{
		{1788264000, time.Second, 1788264000000},
		{1788264000123, time.Millisecond, 1788264000123},
		{1788264000123999, time.Microsecond, 1788264000123},
		{1 << 62, time.Second, 0},
		{-1, time.Second, 0},
	}
	for _, tt := range tests {
		if got := bounded.UnixMillis(tt.n, tt.unit); got != tt.want {
			t.Errorf("UnixMillis(%d, %v) = %d, want %d", tt.n, tt.unit, got, tt.want)
		}
	}
}
