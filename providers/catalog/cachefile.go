package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"agentd/providers/catalog/bounded"
)

// maxCacheBytes bounds a cache file. A larger one is neither written nor read.
const maxCacheBytes = 256 << 20

// cachePath is the file of an agent. Every agent has its own, so that a search in one store reads one file.
func (c *Catalog) cachePath(a Agent) string {
	return filepath.Join(c.opts.CacheDir, "heads-"+string(a)+".bin")
}

// loadCache reads the cache files of stores for the first time. A file that is missing, damaged or of another version is as
// good as none.
func (c *Catalog) loadCache(stores []*store, w wanted) {
	if c.opts.CacheDir == "" {
		return
	}
	c.memo.mu.Lock()
	defer c.memo.mu.Unlock()
	if c.memo.loaded == nil {
		c.memo.loaded = map[Agent]bool{}
	}
	for _, st := range stores {
		agent := st.reader.Agent()
		if c.memo.loaded[agent] || w.exact != "" && st.few() {
			continue
		}
		c.memo.loaded[agent] = true
		data, err := bounded.ReadAll(c.cachePath(agent), maxCacheBytes)
		if err == nil {
			err = c.decodeCache(agent, data)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.opts.Logger.Info("cache not used", slog.String("agent", string(agent)), slog.Any("error", err))
		}
	}
}

// fewFiles is how many files are sooner parsed than a cache of all is read.
const fewFiles = 256

// few reports whether a store has so few files to parse that its cache is not worth reading. A database can hold any number
// of sessions.
func (st *store) few() bool {
	return len(st.units) <= fewFiles && !slices.ContainsFunc(st.units, func(u Unit) bool { return u.Store || len(u.With) > 0 })
}

// decodeCache puts what a cache file holds into the memo. The caller holds memo.mu.
func (c *Catalog) decodeCache(agent Agent, data []byte) error {
	d, err := newDecoder(data, c.opts.Version)
	if err != nil {
		return err
	}
	for range d.count() {
		k := memoKey{agent, d.text(), d.text()}
		e := d.entry()
		if d.bad {
			return errCache
		}
		if c.memo.entries[k] == nil { // What was parsed since is newer.
			c.memo.set(k, e)
		}
	}
	return nil
}

// saveCache writes the cache files of the agents whose entries changed. A failure is told to the log alone: the
// answer does not depend on it.
func (c *Catalog) saveCache(stores []*store) {
	if c.opts.CacheDir == "" {
		return
	}
	for _, st := range stores {
		agent := st.reader.Agent()
		data := c.encodeCache(agent)
		if data == nil {
			continue
		}
		if err := writeWhole(c.cachePath(agent), data); err != nil {
			c.opts.Logger.Warn("cache not written", slog.String("agent", string(agent)), slog.Any("error", err))
		}
	}
}

// encodeCache returns the cache file of an agent, or nil when it is up to date.
func (c *Catalog) encodeCache(agent Agent) []byte {
	c.memo.mu.Lock()
	defer c.memo.mu.Unlock()
	if !c.memo.dirty[agent] {
		return nil
	}
	delete(c.memo.dirty, agent)
	var keys []memoKey
	for k := range c.memo.entries {
		if k.agent == agent {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b memoKey) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.kind, b.kind)) })
	e := newEncoder(c.opts.Version)
	e.number(int64(len(keys)))
	for _, k := range keys {
		e.text(k.kind)
		e.text(k.path)
		e.entry(c.memo.entries[k])
	}
	if data := e.finish(); len(data) <= maxCacheBytes {
		return data
	}
	return nil
}

// writeWhole replaces a file at once, so that another process reads the old one or the new one.
func writeWhole(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the cache folder: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("making a cache file: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing the cache: %w", err), os.Remove(f.Name()))
	}
	return nil
}
