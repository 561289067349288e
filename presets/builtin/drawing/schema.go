package drawing

// fieldSchema are the properties that inserting and updating share.
const fieldSchema = `"shape":{"type":"string","enum":["circle","ellipse","square","rectangle","triangle","star","line","text"]},
"color":{"type":"string","description":"The fill, or the colour of a line: a CSS name or hex, as \"red\" or \"#ff0000\"."},
"x":{"type":"number","description":"The centre, from the left; 256 is the middle."},
"y":{"type":"number","description":"The centre, from the top; 256 is the middle."},
"size":{"type":"number","exclusiveMinimum":0,"description":"The width in pixels, with the height in proportion; of a text, the height of its letters."},
"width":{"type":"number","minimum":0},
"height":{"type":"number","minimum":0,"description":"Of a line: how far its end lies below its start."},
"rotation":{"type":"number","description":"Degrees, clockwise."},
"opacity":{"type":"number","minimum":0,"maximum":1},
"stroke":{"type":"string","description":"The colour of the outline."},
"stroke_width":{"type":"number","minimum":0},
"text":{"type":"string","maxLength":500,"description":"What a text says."}`

const (
	noArguments  = `{"type":"object","properties":{},"additionalProperties":false}`
	insertSchema = `{"type":"object","properties":{` + fieldSchema + `},"required":["shape"],"additionalProperties":false}`
	updateSchema = `{"type":"object","properties":{"id":{"type":"string","description":"The id of the shape."},` + fieldSchema +
		`},"required":["id"],"additionalProperties":false}`
	removeSchema = `{"type":"object","properties":{"id":{"type":"string","description":"The id of the shape."}},"required":["id"],"additionalProperties":false}`
	exportSchema = `{"type":"object","properties":{
"name":{"type":"string","description":"The name of the file, without an ending: letters, digits, '-' and '_'. Without it: drawing."},
"include_source":{"type":"boolean","description":"Also return the text of the SVG."}},"additionalProperties":false}`
)
