package screen

import (
	"os"

	"golang.org/x/term"
)

// What is taken for the size of a terminal that does not tell.
const (
	DefaultColumns = 80
	DefaultRows    = 24
)

// Terminal returns the file behind a stream if it is a terminal.
func Terminal(stream any) (*os.File, bool) {
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil, false
	}
	return file, true
}

// Size returns the columns and rows of the terminal behind a stream; 0 columns if it is none.
func Size(stream any) (columns, rows int) {
	file, ok := Terminal(stream)
	if !ok {
		return 0, 0
	}
	columns, rows, err := term.GetSize(int(file.Fd()))
	if err != nil || columns <= 0 {
		return DefaultColumns, DefaultRows
	}
	return columns, rows
}
