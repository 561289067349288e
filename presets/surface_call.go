package presets

import (
	"context"
	"errors"
)

// minResultBytes leaves room for the words that tell of a cut.
const minResultBytes = 256

// Call makes one call and returns what the model is told. It may wait for a person. The error says that a step could not be recorded or
// that approvals could not be asked; everything else is a result.
func (s *Surface) Call(ctx context.Context, call Call) (Result, error) {
	return Result{}, errors.New("calling a tool: the surface is being built")
}
