package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"agentd/cmd/agentd/internal/home"
	"agentd/cmd/internal/screen"
	"agentd/messages"
	"agentd/persistence/jsonfile/atomicfile"
)

// The formats of an export.
const (
	formatMarkdown = "markdown"
	formatJSON     = "json"
)

type exportParams struct {
	format, output string
	force          bool
}

func newExport(a *app) *cobra.Command {
	var p exportParams
	cmd := a.oneSession(&cobra.Command{
		Use: "export SESSION", Short: "Write a session as a Markdown transcript or as JSON",
		Example: "  agentd sessions export 1a2b3c4d > transcript.md\n  agentd sessions export 1a2b3c4d --format json -o session.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.format != formatMarkdown && p.format != formatJSON {
				return misuse("--format %q: use %s or %s", p.format, formatMarkdown, formatJSON)
			}
			return a.export(cmd.Context(), args[0], p)
		},
	})
	cmd.Flags().StringVar(&p.format, "format", formatMarkdown, "write this `format`: markdown or json")
	cmd.Flags().StringVarP(&p.output, "output", "o", "", "write to this `file` instead of standard output")
	cmd.Flags().BoolVar(&p.force, "force", false, "replace the file if it is there")
	complete(cmd, "format", completeWords(formatMarkdown, formatJSON))
	return cmd
}

func (a *app) export(ctx context.Context, given string, p exportParams) error {
	return a.readingSession(ctx, given, func(reader *home.Reader, head messages.Head) error {
		doc, err := reader.Document(ctx, head.ID)
		if err != nil {
			return err
		}
		var text []byte
		if p.format == formatJSON {
			text, err = exportJSON(doc)
		} else {
			text = transcript(doc)
		}
		if err != nil {
			return err
		}
		if p.output == "" {
			_, err := a.stdout.Write(text)
			return err
		}
		return writeExport(p, text)
	})
}

func writeExport(p exportParams, text []byte) error {
	if _, err := os.Stat(p.output); !p.force && !errors.Is(err, os.ErrNotExist) {
		return misuse("%q is there already: choose another file, or replace it with --force", p.output)
	}
	return atomicfile.Write(p.output, text)
}

// exported is a whole session as one JSON document.
type exported struct {
	Head  messages.Head    `json:"head"`
	Items []*messages.Item `json:"items"`
}

func exportJSON(doc *messages.Document) ([]byte, error) {
	items := doc.Items
	if items == nil {
		items = []*messages.Item{}
	}
	line, err := screen.EncodeJSON(exported{Head: doc.Head, Items: items})
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, line, "", "  "); err != nil {
		return nil, fmt.Errorf("laying out the session: %w", err)
	}
	return text.Bytes(), nil
}
