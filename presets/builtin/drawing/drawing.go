package drawing

import (
	"context"
	_ "embed" // The prompt stands beside the code.
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/builtin/folder"
)

const (
	// PresetName is the name of the preset.
	PresetName = "drawing"
	// CanvasFile is the name of the canvas in the artifact folder of a session.
	CanvasFile = "canvas.svg"
	// exportDir is where exports go, in the artifact folder.
	exportDir = "exports"
	// maxCanvasBytes bounds what is read as a canvas: the limit on shapes keeps what we write well below it.
	maxCanvasBytes = 16 << 20
	filePerm       = 0o644
	dirPerm        = 0o755
)

//go:embed drawing.md
var promptText string

// New returns the preset and its tools.
func New() presets.Bundle {
	s := &studio{locks: folder.NewLocks()}
	adapter := func(name, description, schema string, make presets.MakeFunc) presets.Adapter {
		return presets.Adapter{
			ID: "drawing." + name, Name: presets.ToolPrefix + "drawing_" + name, Description: description,
			InputSchema: json.RawMessage(schema), Risk: messages.RiskNormal, Make: make,
		}
	}
	list := adapter("list_shapes", "Lists the shapes on the canvas, the lowest first.", noArguments, presets.Bind(s.list))
	list.Idempotent = true
	update := adapter("update_shape", "Changes a shape on the canvas: what you give is set, the rest stays.", updateSchema, presets.Bind(s.update))
	update.Idempotent = true
	bundle := presets.Bundle{
		Preset: presets.Preset{
			Name: PresetName, Group: "drawing", Risk: messages.RiskNormal, Contexts: []presets.Pattern{{}}, Prompt: promptText,
		},
		Adapters: []presets.Adapter{
			adapter("insert_shape", "Draws a shape on the canvas. Only its kind is needed; the rest has defaults.", insertSchema, presets.Bind(s.insert)),
			update,
			list,
			adapter("remove_shape", "Removes a shape from the canvas.", removeSchema, presets.Bind(s.remove)),
			adapter("export", "Saves a copy of the canvas as a file and says where it is.", exportSchema, presets.Bind(s.export)),
		},
	}
	for _, adapter := range bundle.Adapters {
		bundle.Preset.ToolIDs = append(bundle.Preset.ToolIDs, adapter.ID)
	}
	return bundle
}

// studio runs the tools. It holds no canvas.
type studio struct {
	locks *folder.Locks // one call of a session at a time
}

// answer is what the tools say of a change.
type answer struct {
	OK bool `json:"ok"`
	Shape
	// Count is how many shapes are on the canvas now.
	Count int `json:"count"`
	// File is where the canvas is.
	File string `json:"file"`
}

type (
	identified struct {
		ID string `json:"id"`
		fields
	}
	exportArguments struct {
		Name   string `json:"name"`
		Source bool   `json:"include_source"`
	}
)

func (s *studio) insert(ctx context.Context, env presets.Env, in fields) (presets.Result, error) {
	return s.change(ctx, env, func(c *canvas) (Shape, error) { return c.insert(in) })
}

func (s *studio) update(ctx context.Context, env presets.Env, in identified) (presets.Result, error) {
	return s.change(ctx, env, func(c *canvas) (Shape, error) { return c.update(in.ID, in.fields) })
}

func (s *studio) remove(ctx context.Context, env presets.Env, in identified) (presets.Result, error) {
	return s.change(ctx, env, func(c *canvas) (Shape, error) { return c.remove(in.ID) })
}

// change loads the canvas, changes it and stores it whole.
func (s *studio) change(ctx context.Context, env presets.Env, edit func(*canvas) (Shape, error)) (presets.Result, error) {
	defer s.locks.Lock(env.ArtifactDir)()
	if err := ctx.Err(); err != nil {
		return presets.Result{}, err
	}
	dir, err := folder.Create(env.ArtifactDir)
	if err != nil {
		return presets.Result{}, fmt.Errorf("opening the artifact folder of the session: %w", err)
	}
	defer dir.Close()
	c, err := load(dir)
	if err != nil {
		return presets.Result{}, err
	}
	shape, err := edit(c)
	if err != nil {
		return presets.Result{}, err
	}
	svg, err := encodeCanvas(c)
	if err != nil {
		return presets.Result{}, err
	}
	if err := dir.Replace(CanvasFile, svg, filePerm, nil); err != nil {
		return presets.Result{}, err
	}
	return presets.JSON(answer{OK: true, Shape: shape, Count: len(c.Shapes), File: filepath.Join(dir.Path(), CanvasFile)})
}

// load reads the canvas; if there is none yet, it is empty.
func load(dir *folder.Folder) (*canvas, error) {
	svg, _, err := dir.ReadFile(CanvasFile, maxCanvasBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return emptyCanvas(), nil
	}
	if err != nil {
		return nil, err
	}
	c, err := decodeCanvas(svg)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", CanvasFile, err)
	}
	return c, nil
}

func (s *studio) list(_ context.Context, env presets.Env, _ struct{}) (presets.Result, error) {
	c, err := s.read(env)
	if err != nil {
		return presets.Result{}, err
	}
	return presets.JSON(map[string]any{
		"ok": true, "count": len(c.Shapes), "width": canvasSize, "height": canvasSize, "shapes": c.Shapes,
	})
}

// read loads the canvas without making anything.
func (s *studio) read(env presets.Env) (*canvas, error) {
	if env.ArtifactDir == "" {
		return nil, fmt.Errorf("opening the artifact folder of the session: %w", folder.ErrNoFolder)
	}
	dir, err := folder.Open(env.ArtifactDir)
	if errors.Is(err, fs.ErrNotExist) {
		return emptyCanvas(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the artifact folder of the session: %w", err)
	}
	defer dir.Close()
	return load(dir)
}

// exportName is what a file may be called, without its ending.
var exportName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

func (s *studio) export(ctx context.Context, env presets.Env, in exportArguments) (presets.Result, error) {
	if in.Name == "" {
		in.Name = "drawing"
	}
	if !exportName.MatchString(in.Name) {
		return presets.Result{}, fmt.Errorf("name %.80q: use up to 64 letters, digits, '-' and '_', without an ending", in.Name)
	}
	defer s.locks.Lock(env.ArtifactDir)()
	if err := ctx.Err(); err != nil {
		return presets.Result{}, err
	}
	c, err := s.read(env)
	if err != nil {
		return presets.Result{}, err
	}
	svg, err := encodeCanvas(c)
	if err != nil {
		return presets.Result{}, err
	}
	dir, err := folder.Create(env.ArtifactDir)
	if err != nil {
		return presets.Result{}, fmt.Errorf("opening the artifact folder of the session: %w", err)
	}
	defer dir.Close()
	name := filepath.Join(exportDir, in.Name+".svg")
	if err := dir.Root().MkdirAll(exportDir, dirPerm); err != nil {
		return presets.Result{}, fmt.Errorf("making the folder for exports: %w", err)
	}
	if err := dir.Replace(name, svg, filePerm, nil); err != nil {
		return presets.Result{}, err
	}
	out := map[string]any{"ok": true, "file": filepath.Join(dir.Path(), name), "bytes": len(svg), "count": len(c.Shapes)}
	if in.Source {
		out["svg"] = string(svg)
	}
	return presets.JSON(out)
}
