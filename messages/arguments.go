package messages

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits on tool arguments.
const (
	// MaxArgumentBytes is the longest JSON text of one call's arguments.
	MaxArgumentBytes = 1 << 20
	// MaxArgumentDepth is how deep arguments may nest.
	MaxArgumentDepth = 64
	// previewRunes is how much of the arguments a person is shown.
	previewRunes = 240
	// maxExponent bounds the numbers that are compared exactly. A larger one is a value that no tool can mean. It bounds the canonical spelling.
	maxExponent = 1000
)

// CanonicalArguments returns the one text that stands for the arguments of a call:
// object keys sorted by bytes, no white space, one spelling for each string and each
// number. Two JSON texts that mean the same give the same canonical text, and two
// that differ give different ones: 1, 1.0 and 10e-1 are equal, [] and {} are not.
// Empty text means no arguments and is {}. Errors: not one JSON object, a key twice in one object, too deep, or
// over [MaxArgumentBytes].
func CanonicalArguments(arguments []byte) ([]byte, error) {
	if len(arguments) > MaxArgumentBytes {
		return nil, fmt.Errorf("arguments of %d bytes, the limit is %d: %w", len(arguments), MaxArgumentBytes, ErrTooLarge)
	}
	if len(bytes.TrimSpace(arguments)) == 0 {
		return []byte("{}"), nil
	}
	if !utf8.Valid(arguments) {
		return nil, errors.New("arguments are not valid UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.UseNumber()
	c := canonicalizer{decoder: decoder}
	token, err := decoder.Token()
	if err != nil {
		return nil, fmt.Errorf("reading arguments as JSON: %w", err)
	}
	if token != json.Delim('{') {
		return nil, errors.New("arguments are not a JSON object")
	}
	out, err := c.object(make([]byte, 0, len(arguments)), 1)
	if err != nil {
		return nil, fmt.Errorf("reading arguments as JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("arguments hold more than one JSON value")
	}
	return out, nil
}

// Fingerprint is the identity of one exact call: SHA-256, in hex, over the tool's id and
// the canonical arguments. A grant covers one fingerprint.
func Fingerprint(toolID string, canonical []byte) string {
	hash := sha256.New()
	hash.Write(strconv.AppendInt(nil, int64(len(toolID)), 10)) // The length keeps id and arguments apart.
	hash.Write([]byte{':'})
	hash.Write([]byte(toolID))
	hash.Write(canonical)
	return hex.EncodeToString(hash.Sum(nil))
}

// Preview is the start of canonical arguments, cut to what a person can read in one prompt.
func Preview(canonical []byte) string {
	count := 0
	for i := range string(canonical) {
		if count == previewRunes {
			return string(canonical[:i]) + "…"
		}
		count++
	}
	return string(canonical)
}

type canonicalizer struct{ decoder *json.Decoder }

func (c *canonicalizer) value(out []byte, depth int) ([]byte, error) {
	token, err := c.decoder.Token()
	if err != nil {
		return nil, noEOF(err)
	}
	switch t := token.(type) {
	case json.Delim:
		if depth >= MaxArgumentDepth {
			return nil, fmt.Errorf("nested deeper than %d", MaxArgumentDepth)
		}
		if t == '{' {
			return c.object(out, depth+1)
		}
		return c.array(out, depth+1)
	case string:
		return appendString(out, t), nil
	case json.Number:
		return appendNumber(out, t)
	case bool:
		return strconv.AppendBool(out, t), nil
	default:
		return append(out, "null"...), nil
	}
}

func (c *canonicalizer) object(out []byte, depth int) ([]byte, error) {
	members := map[string][]byte{}
	for c.decoder.More() {
		token, err := c.decoder.Token()
		if err != nil {
			return nil, noEOF(err)
		}
		key, ok := token.(string)
		if !ok {
			return nil, errors.New("an object key is not a string")
		}
		if _, twice := members[key]; twice {
			return nil, fmt.Errorf("the key %q stands twice in one object", key)
		}
		if members[key], err = c.value(nil, depth); err != nil {
			return nil, err
		}
	}
	if _, err := c.decoder.Token(); err != nil {
		return nil, noEOF(err)
	}
	keys := make([]string, 0, len(members))
	for key := range members {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	out = append(out, '{')
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, key), ':')
		out = append(out, members[key]...)
	}
	return append(out, '}'), nil
}

func (c *canonicalizer) array(out []byte, depth int) ([]byte, error) {
	out = append(out, '[')
	for first := true; c.decoder.More(); first = false {
		if !first {
			out = append(out, ',')
		}
		var err error
		if out, err = c.value(out, depth); err != nil {
			return nil, err
		}
	}
	if _, err := c.decoder.Token(); err != nil {
		return nil, noEOF(err)
	}
	return append(out, ']'), nil
}

func appendString(out []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		return strconv.AppendQuote(out, s)
	}
	return append(out, text...)
}

// appendNumber writes a number as sign, digits without leading or trailing zeros,
// and a decimal exponent, so that each value has one spelling.
func appendNumber(out []byte, n json.Number) ([]byte, error) {
	mantissa, exponentText, hasExponent := strings.Cut(strings.ToLower(n.String()), "e")
	exponent := 0
	if hasExponent {
		var err error
		if exponent, err = strconv.Atoi(exponentText); err != nil || exponent > MaxArgumentBytes || exponent < -MaxArgumentBytes {
			return nil, fmt.Errorf("the number %.40q is out of range", n.String())
		}
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	if trimmed == "" {
		return append(out, '0'), nil
	}
	if exponent > maxExponent || exponent < -maxExponent {
		return nil, fmt.Errorf("the number %.40q is out of range", n.String())
	}
	if negative {
		out = append(out, '-')
	}
	out = append(out, trimmed...)
	if exponent != 0 {
		out = append(out, 'e')
		out = strconv.AppendInt(out, int64(exponent), 10)
	}
	return out, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
