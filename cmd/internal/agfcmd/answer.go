package agfcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"agentd/cmd/internal/screen"
	"agentd/providers/catalog"
)

// askFunc is one operation of a catalog.
type askFunc func(ctx context.Context, cat *catalog.Catalog) (any, error)

// answering runs one operation in the scope of the flags and writes its envelope.
func (f *finder) answering(s *scope, ask func(cmd *cobra.Command, args []string) askFunc) runFunc {
	return running(func(cmd *cobra.Command, args []string) error {
		cat, err := f.open(cmd, *s)
		var data any
		if err == nil {
			data, err = ask(cmd, args)(cmd.Context(), cat)
		}
		if err != nil && cmd.Context().Err() != nil {
			return err // Nobody waits for an answer any more.
		}
		return f.answer(data, err)
	})
}

// answer writes the envelope of an outcome. What failed comes back as an [Error].
func (f *finder) answer(data any, failure error) error {
	line, err := screen.EncodeJSON(catalog.Seal(f.Version, data, failure))
	if err != nil {
		return err
	}
	if _, err := f.Out.Write(line); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if failure != nil {
		return &Error{Code: ExitFailed, Err: failure}
	}
	return nil
}
