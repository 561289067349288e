package drawing

import "strings"

// cssColors are the colour names of CSS, between spaces.
const cssColors = " aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue chartreuse" +
	" chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta" +
	" darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet" +
	" deeppink deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green" +
	" greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan" +
	" lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray lightslategrey" +
	" lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen" +
	" mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive" +
	" olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple" +
	" rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey" +
	" snow springgreen steelblue tan teal thistle tomato transparent turquoise violet wheat white whitesmoke yellow yellowgreen "

// isColor reports whether the text is a CSS colour name or #rgb, #rgba, #rrggbb, #rrggbbaa.
func isColor(text string) bool {
	digits, hex := strings.CutPrefix(text, "#")
	if !hex {
		return !strings.Contains(text, " ") && text != "" && strings.Contains(cssColors, " "+strings.ToLower(text)+" ")
	}
	switch len(digits) {
	case 3, 4, 6, 8:
	default:
		return false
	}
	return strings.Trim(strings.ToLower(digits), "0123456789abcdef") == ""
}
