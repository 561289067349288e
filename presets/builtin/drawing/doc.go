// Package drawing is the built-in preset "drawing": shapes on a canvas, which is one SVG file in the artifact folder of
// the session. Its risk is normal, since it writes nowhere else.
//
// # Promises
//
//   - The file canvas.svg is a valid SVG document after every call, also after a crash: it is written whole and
//     atomically. Everything that came from a model is checked and escaped.
//   - The canvas is the file: nothing is kept in memory between calls. What the tools need to know of the shapes stands in its metadata element.
//     A file that is not ours, or of another version, is refused and left untouched.
//   - Ids are deterministic: shape-1, shape-2 and so on, in the order of inserting, and never used again.
//   - Calls of one session take turns, so that none is lost.
//   - Bounds: at most [MaxShapes] shapes, [MaxTextRunes] characters of text each.
//
// The tools are space_drawing_insert_shape, space_drawing_update_shape, space_drawing_list_shapes,
// space_drawing_remove_shape and space_drawing_export; drawing.md tells a model how to use them.
package drawing
