package drawing

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// encodeCanvas writes the whole document: the metadata first, then the shapes, the lowest first.
func encodeCanvas(c *canvas) ([]byte, error) {
	metadata, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encoding canvas: %w", err)
	}
	var out bytes.Buffer
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[1]d" viewBox="0 0 %[1]d %[1]d">`+"\n", canvasSize)
	fmt.Fprintf(&out, "<metadata id=%q>%s</metadata>\n", metadataID, escaped(string(metadata)))
	fmt.Fprintf(&out, `<rect width="%[1]d" height="%[1]d" fill="white"/>`+"\n", canvasSize)
	for _, shape := range c.Shapes {
		out.WriteString(element(shape))
		out.WriteByte('\n')
	}
	out.WriteString("</svg>\n")
	return out.Bytes(), nil
}

// element is the SVG of one shape. Everything in it is a number, a checked colour, or escaped.
func element(s Shape) string {
	left, top := s.X-s.Width/2, s.Y-s.Height/2
	switch s.Kind {
	case kindCircle:
		return "<circle" + style(s) + attribute("cx", s.X) + attribute("cy", s.Y) + attribute("r", s.Width/2) + "/>"
	case kindEllipse:
		return "<ellipse" + style(s) + attribute("cx", s.X) + attribute("cy", s.Y) + attribute("rx", s.Width/2) + attribute("ry", s.Height/2) + "/>"
	case kindTriangle:
		return "<polygon" + style(s) + points(s.X, top, left+s.Width, top+s.Height, left, top+s.Height) + "/>"
	case kindStar:
		return "<polygon" + style(s) + points(starPoints(s)...) + "/>"
	case kindLine:
		return "<line" + style(s) + attribute("x1", left) + attribute("y1", top) + attribute("x2", left+s.Width) + attribute("y2", top+s.Height) + "/>"
	case kindText:
		return "<text" + style(s) + attribute("x", s.X) + attribute("y", s.Y) + attribute("font-size", s.Height) +
			` font-family="sans-serif" text-anchor="middle" dominant-baseline="central">` + escaped(s.Text) + "</text>"
	default: // A square or a rectangle.
		return "<rect" + style(s) + attribute("x", left) + attribute("y", top) + attribute("width", s.Width) + attribute("height", s.Height) + "/>"
	}
}

// style is what all shapes have.
func style(s Shape) string {
	var out strings.Builder
	out.WriteString(` id="` + escaped(s.ID) + `"`)
	if s.Kind == kindLine {
		out.WriteString(` stroke="` + escaped(s.Color) + `" stroke-linecap="round"` + attribute("stroke-width", s.StrokeWidth))
	} else {
		out.WriteString(` fill="` + escaped(s.Color) + `"`)
		if s.Stroke != "" {
			width := s.StrokeWidth
			if width == 0 {
				width = defaultStroke
			}
			out.WriteString(` stroke="` + escaped(s.Stroke) + `"` + attribute("stroke-width", width))
		}
	}
	if s.Opacity < 1 {
		out.WriteString(attribute("opacity", s.Opacity))
	}
	if s.Rotation != 0 {
		out.WriteString(` transform="rotate(` + number(s.Rotation) + " " + number(s.X) + " " + number(s.Y) + `)"`)
	}
	return out.String()
}

// starPoints are the ten corners of a star, from the top.
func starPoints(s Shape) []float64 {
	const corners, inner = 10, 0.382 // The inner corners of a regular five-pointed star.
	out := make([]float64, 0, 2*corners)
	for i := range corners {
		radius := 1.0
		if i%2 == 1 {
			radius = inner
		}
		angle := float64(i)*2*math.Pi/corners - math.Pi/2
		out = append(out, s.X+radius*math.Cos(angle)*s.Width/2, s.Y+radius*math.Sin(angle)*s.Height/2)
	}
	return out
}

func points(coordinates ...float64) string {
	parts := make([]string, len(coordinates))
	for i, value := range coordinates {
		parts[i] = number(value)
	}
	return ` points="` + strings.Join(parts, " ") + `"`
}

// attribute is one attribute whose value is a number.
func attribute(name string, value float64) string { return " " + name + `="` + number(value) + `"` }

// number is a value with at most three places behind the point, without an exponent.
func number(value float64) string {
	return strconv.FormatFloat(math.Round(value*1000)/1000+0, 'f', -1, 64) // +0 makes -0 a plain 0.
}

func escaped(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // A buffer takes everything.
	return out.String()
}
