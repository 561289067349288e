//go:build unix && !linux

package catalog

// asked has nothing to keep between two questions on this system.
type asked struct{}

// statAt asks for the state of a file below an open folder. It follows links.
func (*asked) statAt(fd int, name string) (fileState, error) { return fstatAt(fd, name) }
