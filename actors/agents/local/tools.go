package local

// The external names of the built-in tools that the language knows. "call" reaches every other one.
const (
	toolDraw   = "space_drawing_insert_shape"
	toolShapes = "space_drawing_list_shapes"
	toolExport = "space_drawing_export"
	toolList   = "space_workspace_list"
	toolRead   = "space_workspace_read"
	toolSearch = "space_workspace_search"
	toolWrite  = "space_workspace_write"
	toolDelete = "space_workspace_delete"
	toolRun    = "space_shell_run"
)
