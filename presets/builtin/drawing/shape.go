package drawing

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a canvas.
const (
	// MaxShapes is how many shapes a canvas may hold.
	MaxShapes = 2000
	// MaxTextRunes is the longest text of one shape, in characters.
	MaxTextRunes = 500
	// maxCoordinate bounds every coordinate and size.
	maxCoordinate = 100_000
)

// Defaults of a shape.
const (
	canvasSize     = 512
	defaultSize    = 100
	defaultColor   = "#1f77b4"
	defaultStroke  = 4
	defaultAspect  = 0.625 // height of an ellipse or rectangle to its width
	defaultContent = "Text"
)

// Kinds of shapes.
const (
	kindCircle    = "circle"
	kindEllipse   = "ellipse"
	kindSquare    = "square"
	kindRectangle = "rectangle"
	kindTriangle  = "triangle"
	kindStar      = "star"
	kindLine      = "line"
	kindText      = "text"
)

func kinds() []string {
	return []string{kindCircle, kindEllipse, kindSquare, kindRectangle, kindTriangle, kindStar, kindLine, kindText}
}

// Shape is one shape on the canvas. X and Y are its centre; sizes are in pixels.
type Shape struct {
	ID    string  `json:"id"`
	Kind  string  `json:"shape"`
	Color string  `json:"color"`
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
	// Width and Height are those of the box around the shape before it is turned. The height of a text is that of its letters.
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	// Rotation is in degrees, clockwise.
	Rotation float64 `json:"rotation,omitempty"`
	// Opacity is from 0, which is invisible, to 1.
	Opacity float64 `json:"opacity"`
	// Stroke is the colour of the outline, empty for none; StrokeWidth its width, and that of a line.
	Stroke      string  `json:"stroke,omitempty"`
	StrokeWidth float64 `json:"stroke_width,omitempty"`
	// Text is what a text says.
	Text string `json:"text,omitempty"`
}

// fields are what a model may say of a shape. What it leaves out is nil.
type fields struct {
	Kind        *string  `json:"shape"`
	Color       *string  `json:"color"`
	X           *float64 `json:"x"`
	Y           *float64 `json:"y"`
	Size        *float64 `json:"size"`
	Width       *float64 `json:"width"`
	Height      *float64 `json:"height"`
	Rotation    *float64 `json:"rotation"`
	Opacity     *float64 `json:"opacity"`
	Stroke      *string  `json:"stroke"`
	StrokeWidth *float64 `json:"stroke_width"`
	Text        *string  `json:"text"`
}

// newShape is a shape in the middle of the canvas.
func newShape(id string, in fields) Shape {
	shape := Shape{ID: id, Color: defaultColor, X: canvasSize / 2, Y: canvasSize / 2, Width: defaultSize, Opacity: 1}
	if in.Kind != nil {
		shape.Kind = *in.Kind
	}
	switch shape.Kind {
	case kindEllipse, kindRectangle:
		shape.Height = defaultSize * defaultAspect
	case kindLine:
		shape.StrokeWidth = defaultStroke
	case kindText:
		shape.Text, shape.Height = defaultContent, 32
	default:
		shape.Height = defaultSize
	}
	return shape
}

// with lays what a model said over the shape.
func (s Shape) with(in fields) Shape {
	set(&s.Kind, in.Kind)
	set(&s.Color, in.Color)
	set(&s.X, in.X)
	set(&s.Y, in.Y)
	if in.Size != nil {
		s.resize(*in.Size)
	}
	set(&s.Width, in.Width)
	set(&s.Height, in.Height)
	set(&s.Rotation, in.Rotation)
	set(&s.Opacity, in.Opacity)
	set(&s.Stroke, in.Stroke)
	set(&s.StrokeWidth, in.StrokeWidth)
	if in.Text != nil {
		s.Text = xmlText(*in.Text)
	}
	if s.Kind == kindLine && s.StrokeWidth == 0 {
		s.StrokeWidth = defaultStroke // A line that was something else before has none, and would not be seen.
	}
	if (s.Kind == kindCircle || s.Kind == kindSquare) && in.Size == nil {
		s.keepRound(in)
	}
	return s
}

// resize gives the shape a size: the width, with the height in proportion. The size of a text is the height of its letters.
func (s *Shape) resize(size float64) {
	switch {
	case s.Kind == kindText:
		s.Height = size
	case s.Width > 0:
		s.Height = s.Height / s.Width * size
		s.Width = size
	default:
		s.Width, s.Height = size, size
	}
}

// keepRound makes width and height of a circle or square the same, by the one that was given.
func (s *Shape) keepRound(in fields) {
	if in.Width == nil && in.Height != nil {
		s.Width = s.Height
		return
	}
	s.Height = s.Width
}

// xmlText replaces what XML cannot hold, so that what is stored is what is shown.
func xmlText(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000 {
			return r
		}
		return utf8.RuneError
	}, text)
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// validate returns the first fault, in words that help a model.
func (s Shape) validate() error {
	if !slices.Contains(kinds(), s.Kind) {
		return fmt.Errorf("unknown shape %.40q: use one of %s", s.Kind, strings.Join(kinds(), ", "))
	}
	for _, color := range []struct{ name, value string }{{"color", s.Color}, {"stroke", s.Stroke}} {
		if color.value != "" && !isColor(color.value) || color.name == "color" && color.value == "" {
			return fmt.Errorf("%s %.40q: use a CSS colour name or hex, as \"red\" or \"#ff0000\"", color.name, color.value)
		}
	}
	if utf8.RuneCountInString(s.Text) > MaxTextRunes {
		return fmt.Errorf("text: it has more than %d characters", MaxTextRunes)
	}
	if s.Kind == kindText && strings.TrimSpace(s.Text) == "" {
		return errors.New("text: it is empty")
	}
	return s.validateNumbers()
}

func (s Shape) validateNumbers() error {
	for _, number := range []struct {
		name       string
		value, low float64
		high       float64
	}{
		{"x", s.X, -maxCoordinate, maxCoordinate},
		{"y", s.Y, -maxCoordinate, maxCoordinate},
		{"width", s.Width, 0, maxCoordinate},
		{"height", s.Height, 0, maxCoordinate},
		{"rotation", s.Rotation, -360_000, 360_000},
		{"opacity", s.Opacity, 0, 1},
		{"stroke_width", s.StrokeWidth, 0, maxCoordinate},
	} {
		if math.IsNaN(number.value) || number.value < number.low || number.value > number.high {
			return fmt.Errorf("%s is %g: give %g to %g", number.name, number.value, number.low, number.high)
		}
	}
	return nil
}
