package database

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Text is a column that is read as text whatever was stored in it: NULL is empty, numbers are written out, and bytes
// that are not UTF-8 become U+FFFD.
type Text string

// Scan implements [database/sql.Scanner]. It never fails.
func (t *Text) Scan(src any) error {
	switch v := src.(type) {
	case string:
		*t = Text(strings.ToValidUTF8(v, "\uFFFD"))
	case []byte:
		*t = Text(strings.ToValidUTF8(string(v), "\uFFFD"))
	case int64:
		*t = Text(strconv.FormatInt(v, 10))
	case float64:
		*t = Text(strconv.FormatFloat(v, 'f', -1, 64))
	case time.Time: // A column that is declared as a date; the driver makes one of its text.
		*t = Text(v.Format(time.RFC3339Nano))
	default:
		*t = ""
	}
	return nil
}

// Int is a column that is read as a whole number whatever was stored in it: NULL and what is no number are 0.
type Int int64

// Scan implements [database/sql.Scanner]. It never fails.
func (n *Int) Scan(src any) error {
	switch v := src.(type) {
	case int64:
		*n = Int(v)
	case float64:
		*n = wholeNumber(v)
	case bool:
		*n = 0
		if v {
			*n = 1
		}
	case string:
		*n = textNumber(v)
	case []byte:
		*n = textNumber(string(v))
	default:
		*n = 0
	}
	return nil
}

func textNumber(s string) Int {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		return 0
	}
	return wholeNumber(f)
}

func wholeNumber(f float64) Int {
	if math.IsNaN(f) || math.Abs(f) > 1<<62 {
		return 0
	}
	return Int(f)
}
