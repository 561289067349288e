package bounded

import (
	"strconv"
	"strings"
	"time"
)

// Earliest is the first time that is believed, 2000-01-01 in Unix milliseconds. No store is older.
const Earliest int64 = 946684800000

// Millis returns the time in Unix milliseconds that a JSON value tells, or 0: an RFC 3339 text with or without zone
// and fraction, or a number (also in quotes) in seconds, milliseconds, microseconds or nanoseconds, told apart by
// size. Use [UnixMillis] where the unit is known.
func Millis(v Value) int64 {
	if v.IsString() {
		if ms, ok := commonTime(v.Bytes()); ok {
			return ms
		}
		return ParseTime(v.Text(64))
	}
	n, _ := v.Number()
	return GuessMillis(n)
}

// ParseTime is [Millis] for a text.
func ParseTime(text string) int64 {
	text = strings.TrimSpace(text)
	if len(text) < 4 {
		return 0
	}
	if text[0] >= '0' && text[0] <= '9' && !strings.ContainsAny(text, "-:TZ ") {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0
		}
		return GuessMillis(n)
	}
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
		"2006-01-02 15:04:05.999999999", "2006-01-02T15-04-05.999Z", "2006-01-02T15-04-05-000Z",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return believed(t.UnixMilli())
		}
	}
	return 0
}

// commonTime reads the form that nearly every store writes, 2006-01-02T15:04:05.000Z, with any number of decimals,
// without making a copy. Odd days are left to the exact parser.
func commonTime(b []byte) (ms int64, ok bool) {
	const form = "dddd-dd-ddTdd:dd:dd"
	if len(b) <= len(form) || len(b) > 30 || b[len(b)-1] != 'Z' {
		return 0, false
	}
	for i := range len(form) {
		if (form[i] == 'd') != (b[i] >= '0' && b[i] <= '9') || (form[i] != 'd' && form[i] != b[i]) {
			return 0, false
		}
	}
	two := func(i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }
	month, day, hour, minute, second := two(5), two(8), two(11), two(14), two(17)
	if month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	nanos, scale := 0, 100_000_000
	if fraction := b[len(form) : len(b)-1]; len(fraction) > 0 {
		if fraction[0] != '.' || len(fraction) == 1 {
			return 0, false
		}
		for _, c := range fraction[1:] {
			if c < '0' || c > '9' {
				return 0, false
			}
			nanos += int(c-'0') * scale
			scale /= 10
		}
	}
	return believed(time.Date(two(0)*100+two(2), time.Month(month), day, hour, minute, second, nanos, time.UTC).UnixMilli()), true
}

// GuessMillis tells the unit of a Unix time by its size: up to 1e11 seconds, up to 1e14 milliseconds, up to 1e17
// microseconds, nanoseconds beyond. It returns 0 for what is before [Earliest] or no time at all.
func GuessMillis(n float64) int64 {
	switch {
	case !(n > 0) || n > 9e18: // NaN compares false.
		return 0
	case n < 1e11:
		n *= 1000
	case n < 1e14:
	case n < 1e17:
		n /= 1e3
	default:
		n /= 1e6
	}
	return believed(int64(n))
}

// UnixMillis converts a count of units since 1970 to milliseconds, or 0 when that is before [Earliest] or beyond
// what a count can hold.
func UnixMillis(n int64, unit time.Duration) int64 {
	if n <= 0 {
		return 0
	}
	if unit >= time.Millisecond {
		scale := int64(unit / time.Millisecond)
		if n > (1<<62)/scale {
			return 0
		}
		return believed(n * scale)
	}
	return believed(n / int64(time.Millisecond/unit))
}

func believed(ms int64) int64 {
	if ms < Earliest {
		return 0
	}
	return ms
}
