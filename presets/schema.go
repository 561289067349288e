package presets

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// compileSchema reads a tool's input schema. Only local references are followed.
func compileSchema(text json.RawMessage) (*jsonschema.Resolved, error) {
	if len(text) == 0 {
		return nil, errors.New("it is missing")
	}
	if len(text) > MaxSchemaBytes {
		return nil, fmt.Errorf("it has %d bytes, the limit is %d", len(text), MaxSchemaBytes)
	}
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(text, schema); err != nil {
		return nil, fmt.Errorf("it is not a JSON Schema: %w", err)
	}
	if schema.Type != "object" {
		return nil, errors.New(`its type must be "object"`)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolving it: %w", err)
	}
	return resolved, nil
}

// maxFaultRunes is how much of a schema fault a model is told.
const maxFaultRunes = 600

func checkAgainst(schema *jsonschema.Resolved, args exactArguments) error {
	if err := schema.Validate(args.value); err != nil {
		return fmt.Errorf("%w: %s", ErrArguments, cutRunes(visible(err.Error()), maxFaultRunes))
	}
	return nil
}
