package local

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// shapeArguments are the arguments of the drawing's insert tool, in the order in which a person would say them.
type shapeArguments struct {
	Shape string   `json:"shape"`
	Color string   `json:"color,omitempty"`
	X     *float64 `json:"x,omitempty"`
	Y     *float64 `json:"y,omitempty"`
	Size  *float64 `json:"size,omitempty"`
}

// colour returns the hex form of a colour that has a name.
func colour(name string) (string, bool) {
	hex, ok := map[string]string{
		"red": "#ff0000", "green": "#008000", "blue": "#0000ff", "yellow": "#ffff00", "orange": "#ffa500",
		"purple": "#800080", "pink": "#ffc0cb", "black": "#000000", "white": "#ffffff", "gray": "#808080",
		"grey": "#808080", "brown": "#a52a2a", "cyan": "#00ffff", "magenta": "#ff00ff",
	}[name]
	return hex, ok
}

// parseDraw reads "a red circle at 40,60 size 20". The words may come in any order; the shape is the one that is nothing else.
func parseDraw(rest string) (command, error) {
	var shape shapeArguments
	fields := strings.Fields(strings.ToLower(rest))
	for i := 0; i < len(fields); i++ {
		word := fields[i]
		next := ""
		if i+1 < len(fields) {
			next = fields[i+1]
		}
		switch hex, named := colour(word); {
		case word == "a" || word == "an" || word == "the" || word == "of":
		case named:
			shape.Color = hex
		case isHexColour(word):
			shape.Color = word
		case word == "at":
			x, y, err := parsePoint(next)
			if err != nil {
				return command{}, err
			}
			shape.X, shape.Y = &x, &y
			i++
		case word == "size":
			size, err := strconv.ParseFloat(next, 64)
			if err != nil {
				return command{}, saying("I cannot draw with size %.40q: say %q.", next, "size 20")
			}
			shape.Size = &size
			i++
		case shape.Shape == "":
			shape.Shape = word
		default:
			return command{}, saying("I do not understand %.40q in what to draw: say %q.", word, "draw a red circle at 40,60 size 20")
		}
	}
	if shape.Shape == "" {
		return command{}, saying("Something is missing: say %q.", "draw a red circle")
	}
	arguments, err := json.Marshal(shape)
	if err != nil {
		return command{}, fmt.Errorf("encoding what to draw: %w", err)
	}
	return command{tool: toolDraw, arguments: arguments, done: "Done."}, nil
}

func isHexColour(word string) bool {
	return regexp.MustCompile(`^#[0-9a-f]{6}$`).MatchString(word)
}

func parsePoint(text string) (x, y float64, err error) {
	left, right, found := strings.Cut(text, ",")
	x, errX := strconv.ParseFloat(left, 64)
	y, errY := strconv.ParseFloat(right, 64)
	if !found || errX != nil || errY != nil {
		return 0, 0, saying("I cannot draw at %.40q: say %q.", text, "at 40,60")
	}
	return x, y, nil
}
