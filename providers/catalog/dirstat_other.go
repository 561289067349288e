//go:build !unix

package catalog

import "os"

// dirStat asks for the state of one file after the other.
type dirStat struct{}

// stat follows links.
func (d *dirStat) stat(path string) (fileState, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}, err
	}
	return fileState{size: info.Size(), modNS: info.ModTime().UnixNano(), regular: info.Mode().IsRegular()}, nil
}

// Close is for other systems.
func (d *dirStat) Close() {}
