package drawing

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// canvasSchema names the layout of the metadata of a canvas.
const canvasSchema = "agentd.canvas/1"

// metadataID marks the element that holds what the tools know of the shapes.
const metadataID = "agentd-canvas"

// errCanvas means that canvas.svg is not a canvas of ours.
var errCanvas = errors.New("the file is not a canvas of this tool; it is left untouched")

// canvas is all shapes, the lowest first.
type canvas struct {
	Schema string  `json:"schema"`
	Next   int     `json:"next"` // the number of the next id
	Shapes []Shape `json:"shapes"`
}

func emptyCanvas() *canvas { return &canvas{Schema: canvasSchema, Next: 1, Shapes: []Shape{}} }

func (c *canvas) find(id string) (int, error) {
	i := slices.IndexFunc(c.Shapes, func(s Shape) bool { return s.ID == id })
	if i < 0 {
		return 0, fmt.Errorf("there is no shape %.40q: list the shapes to see their ids", id)
	}
	return i, nil
}

func (c *canvas) insert(in fields) (Shape, error) {
	if len(c.Shapes) >= MaxShapes {
		return Shape{}, fmt.Errorf("the canvas holds %d shapes already, which is the limit: remove some", MaxShapes)
	}
	shape := newShape("shape-"+strconv.Itoa(c.Next), in).with(in)
	if err := shape.validate(); err != nil {
		return Shape{}, err
	}
	c.Next++
	c.Shapes = append(c.Shapes, shape)
	return shape, nil
}

func (c *canvas) update(id string, in fields) (Shape, error) {
	i, err := c.find(id)
	if err != nil {
		return Shape{}, err
	}
	shape := c.Shapes[i].with(in)
	if err := shape.validate(); err != nil {
		return Shape{}, err
	}
	c.Shapes[i] = shape
	return shape, nil
}

func (c *canvas) remove(id string) (Shape, error) {
	i, err := c.find(id)
	if err != nil {
		return Shape{}, err
	}
	shape := c.Shapes[i]
	c.Shapes = slices.Delete(c.Shapes, i, i+1)
	return shape, nil
}

// decodeCanvas reads the metadata of an SVG file that we wrote.
func decodeCanvas(svg []byte) (*canvas, error) {
	text, err := metadataOf(svg)
	if err != nil {
		return nil, err
	}
	c := new(canvas)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("%w: its metadata: %w", errCanvas, err)
	}
	if c.Schema != canvasSchema {
		return nil, fmt.Errorf("%w: it has the schema %.40q, this version reads %q", errCanvas, c.Schema, canvasSchema)
	}
	if len(c.Shapes) > MaxShapes || c.Next < 1 {
		return nil, fmt.Errorf("%w: its counts are out of range", errCanvas)
	}
	for _, shape := range c.Shapes {
		if err := shape.validate(); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errCanvas, shape.ID, err)
		}
	}
	return c, nil
}

func metadataOf(svg []byte) ([]byte, error) {
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: it has no metadata", errCanvas)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errCanvas, err)
		}
		start, is := token.(xml.StartElement)
		if !is || start.Name.Local != "metadata" || !slices.ContainsFunc(start.Attr, isMetadataID) {
			continue
		}
		var element struct {
			Text []byte `xml:",chardata"`
		}
		if err := decoder.DecodeElement(&element, &start); err != nil {
			return nil, fmt.Errorf("%w: its metadata: %w", errCanvas, err)
		}
		return element.Text, nil
	}
}

func isMetadataID(attr xml.Attr) bool { return attr.Name.Local == "id" && attr.Value == metadataID }
