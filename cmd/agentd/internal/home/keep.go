package home

import (
	"context"
	"errors"
	"fmt"
	"os"

	"agentd/persistence/jsonfile/atomicfile"
	"agentd/presets"
	"agentd/providers/catalog/bounded"
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
	text, err := bounded.ReadAll(path, maxKeepBytes)
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
