package home

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"agentd/persistence/jsonfile/atomicfile"
	"agentd/presets"
)

// maxKeepBytes is the largest file of grants or overrides that is read.
const maxKeepBytes = 64 << 20

// GrantFile is the [presets.GrantStore] of a data directory.
type GrantFile struct{ dir Dir }

var _ presets.GrantStore = GrantFile{}

// GrantFile returns the store of standing approvals.
func (d Dir) GrantFile() GrantFile { return GrantFile{d} }

// Load implements [presets.GrantStore].
func (f GrantFile) Load(context.Context) ([]presets.Grant, error) {
	return load(f.dir.Grants(), presets.DecodeGrants)
}

// Save implements [presets.GrantStore].
func (f GrantFile) Save(_ context.Context, grants []presets.Grant) error {
	text, err := presets.EncodeGrants(grants)
	if err != nil {
		return err
	}
	return atomicfile.Write(f.dir.Grants(), text)
}

// OverrideFile is the [presets.OverrideStore] of a data directory.
type OverrideFile struct{ dir Dir }

var _ presets.OverrideStore = OverrideFile{}

// OverrideFile returns the store of preset overrides.
func (d Dir) OverrideFile() OverrideFile { return OverrideFile{d} }

// Load implements [presets.OverrideStore].
func (f OverrideFile) Load(context.Context) (presets.Overrides, error) {
	return load(f.dir.Overrides(), presets.DecodeOverrides)
}

// Save implements [presets.OverrideStore].
func (f OverrideFile) Save(_ context.Context, overrides presets.Overrides) error {
	text, err := presets.EncodeOverrides(overrides)
	if err != nil {
		return err
	}
	return atomicfile.Write(f.dir.Overrides(), text)
}

// load reads a small file. One that is not there is the zero value.
func load[T any](path string, decode func([]byte) (T, error)) (value T, err error) {
	text, err := readSmall(path)
	if errors.Is(err, os.ErrNotExist) {
		return value, nil
	}
	if err == nil {
		value, err = decode(text)
	}
	if err != nil {
		return value, fmt.Errorf("reading %q: %w; move the file away to go on without it", path, err)
	}
	return value, nil
}

func readSmall(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // Nothing was written.
	text, err := io.ReadAll(io.LimitReader(file, maxKeepBytes+1))
	if err == nil && len(text) > maxKeepBytes {
		err = fmt.Errorf("it has more than %d bytes", maxKeepBytes)
	}
	return text, err
}
