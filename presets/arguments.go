package presets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"agentd/messages"
)

// exactArguments are the arguments of one call, in the forms that its steps need.
type exactArguments struct {
	// raw is what the model wrote; canonical is the one text that stands for it.
	raw, canonical json.RawMessage
	// plain is canonical with numbers spelled as people do. The tool runs with it, so that what runs follows from what was
	// approved and from nothing else: no second spelling of a key or a character reaches a tool.
	plain json.RawMessage
	// value is plain, decoded, for the check against a schema.
	value map[string]any
}

func readArguments(raw json.RawMessage) (exactArguments, error) {
	canonical, err := messages.CanonicalArguments(raw)
	if err != nil {
		return exactArguments{}, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	tree, err := decodeNumbers(canonical)
	if err != nil {
		return exactArguments{}, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	plain, err := encodeJSON(plainNumbers(tree))
	if err != nil {
		return exactArguments{}, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	args := exactArguments{raw: raw, canonical: canonical, plain: plain}
	if err := json.Unmarshal(plain, &args.value); err != nil {
		return exactArguments{}, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		args.raw = json.RawMessage("{}")
	}
	return args, nil
}

// preview is what a person is shown: secrets masked, cut, and nothing in it that cannot be seen.
func (a exactArguments) preview() string {
	tree, err := decodeNumbers(a.plain)
	if err != nil {
		return ""
	}
	text, err := encodeJSON(mask(tree))
	if err != nil {
		return ""
	}
	return visible(messages.Preview(text))
}

func decodeNumbers(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	return tree, nil
}

// encodeJSON is json.Marshal without the escapes that only matter in HTML.
func encodeJSON(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// plainNumbers respells the canonical numbers of a tree, in place: 1e2 becomes 100, 15e-1 becomes 1.5.
func plainNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		return plainNumber(v)
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for key, member := range v {
			v[key] = plainNumbers(member)
		}
	}
	return value
}

// maxPlainDigits is how long a plain number may get; a longer one keeps its exponent.
const maxPlainDigits = 30

func plainNumber(n json.Number) json.Number {
	mantissa, exponentText, scaled := strings.Cut(n.String(), "e")
	if !scaled {
		return n
	}
	exponent, err := strconv.Atoi(exponentText)
	if err != nil || exponent > maxPlainDigits || exponent < -maxPlainDigits {
		return n
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	sign := ""
	if negative {
		sign = "-"
	}
	if exponent >= 0 {
		return json.Number(sign + digits + strings.Repeat("0", exponent))
	}
	if missing := -exponent - len(digits) + 1; missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) + exponent
	return json.Number(sign + digits[:point] + "." + digits[point:])
}
