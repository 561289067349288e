package catalog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"agentd/providers/catalog/bounded"
)

// A cache file is a shelf: a first line with the form's and the program's version; for each of the three texts its length and checksum
// (CRC-32C), and a checksum of these numbers; then the texts. What was found in single units comes last, and is read only when one changed.
const (
	cacheForm    = "agf-heads 2 "
	cacheNumbers = 3*8 + 4
	// maxCacheBytes bounds a text of a cache file. A file with a larger one is neither written nor read.
	maxCacheBytes = 256 << 20
)

var errCache = errors.New("damaged cache, or one of another version")

// fewFiles is how many files are sooner parsed than a cache of all is read.
const fewFiles = 256

// few reports whether a store has so few files to parse that its cache is not worth reading. A database can hold any number
// of sessions.
func few(units []Unit) bool {
	return len(units) <= fewFiles && !slices.ContainsFunc(units, func(u Unit) bool { return u.Store || len(u.With) > 0 })
}

// cachePath is the file of a scan. Every agent has its own, so that a search in one store reads one file.
func (c *Catalog) cachePath(k shelfKey) string {
	kind := ""
	if k.nonInteractive {
		kind = "-all"
	}
	return filepath.Join(c.opts.CacheDir, "heads-"+string(k.agent)+kind+".bin")
}

// loadCache reads a cache file. One that is missing, damaged or of another version is as good as none.
func (c *Catalog) loadCache(k shelfKey) *shelf {
	path := c.cachePath(k)
	f, err := readCache(path, c.opts.Version, 2)
	if err == nil {
		var s *shelf
		s, err = newShelf(f.texts[0], f.texts[1], sync.OnceValues(func() (string, error) {
			again, err := readCache(path, c.opts.Version, 3)
			if err == nil && string(again.head) != string(f.head) {
				err = errCache // Another process wrote a newer one.
			}
			return again.texts[2], err
		}))
		if err == nil {
			return s
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		c.opts.Logger.Info("cache not used", slog.String("agent", string(k.agent)), slog.Any("error", err))
	}
	return nil
}

// cacheFile is what a cache file holds.
type cacheFile struct {
	head  []byte
	texts [3]string
}

// readCache reads the first n texts of a cache file.
func readCache(path, version string, n int) (f cacheFile, err error) {
	in, err := bounded.Open(path)
	if err != nil {
		return f, err
	}
	defer func() { _ = in.Close() }() // It was only read.
	first := cacheForm + version + "\n"
	f.head = make([]byte, len(first)+cacheNumbers)
	if _, err := io.ReadFull(io.NewSectionReader(in, 0, int64(len(f.head))), f.head); err != nil || string(f.head[:len(first)]) != first {
		return f, errCache
	}
	numbers := f.head[len(first):]
	if binary.LittleEndian.Uint32(numbers[cacheNumbers-4:]) != checksum(numbers[:cacheNumbers-4]) {
		return f, errCache
	}
	at := int64(len(f.head))
	for i := range n {
		size := int64(binary.LittleEndian.Uint32(numbers[8*i:]))
		if size > maxCacheBytes || size > in.Size-at {
			return f, errCache
		}
		if f.texts[i], err = readText(io.NewSectionReader(in, at, size), size, binary.LittleEndian.Uint32(numbers[8*i+4:])); err != nil {
			return f, err
		}
		at += size
	}
	return f, nil
}

// readText reads a text without a second copy of it, and checks it.
func readText(in io.Reader, size int64, sum uint32) (string, error) {
	var out strings.Builder
	out.Grow(int(size))
	var buf [16 << 10]byte
	table, crc := crc32.MakeTable(crc32.Castagnoli), uint32(0)
	for {
		n, err := in.Read(buf[:])
		out.Write(buf[:n])
		crc = crc32.Update(crc, table, buf[:n])
		switch {
		case err == io.EOF && int64(out.Len()) == size && crc == sum:
			return out.String(), nil
		case err == io.EOF:
			return "", errCache
		case err != nil:
			return "", err
		}
	}
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// encodeCache returns the cache file of a scan in pieces, or nothing when it is too large.
func encodeCache(version string, s *shelf) ([][]byte, error) {
	parts, err := s.parts()
	if err != nil {
		return nil, err
	}
	head := []byte(cacheForm + version + "\n")
	numbers := len(head)
	out := [][]byte{nil}
	for _, text := range []string{s.units, s.found, parts} {
		if len(text) > maxCacheBytes {
			return nil, nil
		}
		b := []byte(text)
		head = binary.LittleEndian.AppendUint32(head, uint32(len(b)))
		head = binary.LittleEndian.AppendUint32(head, checksum(b))
		out = append(out, b)
	}
	out[0] = binary.LittleEndian.AppendUint32(head, checksum(head[numbers:]))
	return out, nil
}

// saveCache writes the cache file of a scan. A failure is told to the log alone: the answer does not depend on it.
func (c *Catalog) saveCache(k shelfKey, s *shelf) {
	if c.opts.CacheDir == "" || s.seen == 0 {
		return
	}
	data, err := encodeCache(c.opts.Version, s)
	if err == nil && data != nil {
		err = writeWhole(c.cachePath(k), data)
	}
	if err != nil {
		c.opts.Logger.Warn("cache not written", slog.String("agent", string(k.agent)), slog.Any("error", err))
	}
}

// writeWhole replaces a file at once, so that another process reads the old one or the new one.
func writeWhole(path string, data [][]byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the cache folder: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("making a cache file: %w", err)
	}
	for _, b := range data {
		if err == nil {
			_, err = f.Write(b)
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing the cache: %w", err), os.Remove(f.Name()))
	}
	return nil
}
