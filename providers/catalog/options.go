package catalog

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
)

// Options configure a [Catalog]. The zero value is useful.
type Options struct {
	// Agent limits every answer to one agent, by name or alias. Default all.
	Agent string
	// CacheDir is an absolute folder for parsed heads, made when it does not exist. It holds nothing that the stores do not, it is
	// safe to delete at any time, and it must not lie within a store. Default none: nothing is written.
	CacheDir string
	// Env is the surroundings. Default [HostEnv].
	Env *Env
	// Logger gets diagnostics; never what a session says. Default none.
	Logger *slog.Logger
	// Project limits every answer to one exact project directory. Default all.
	Project string
	// Version is reported in every envelope, and a cache of another version is not used. Default [DefaultVersion].
	Version string
	// Workers is how many files are read at once. Default [DefaultWorkers], at most [MaxWorkers].
	Workers int
}

const (
	// DefaultVersion is the version that is reported when none is given.
	DefaultVersion = "0.0.0-dev"
	// MaxWorkers bounds the files that are read at once, and so the memory that reading takes.
	MaxWorkers = 64
)

// DefaultWorkers is twice the number of usable processors, at least four: a worker often waits for the disk.
func DefaultWorkers() int { return min(MaxWorkers, max(4, 2*runtime.GOMAXPROCS(0))) }

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Env == nil {
		env := HostEnv()
		out.Env = &env
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	if out.Version == "" {
		out.Version = DefaultVersion
	}
	if out.Workers == 0 {
		out.Workers = DefaultWorkers()
	}
	return out
}

func (o *Options) validate() error {
	if o.Workers < 1 || o.Workers > MaxWorkers {
		return fmt.Errorf("catalog options: Workers is %d, want 1 to %d", o.Workers, MaxWorkers)
	}
	if o.CacheDir != "" && !filepath.IsAbs(o.CacheDir) {
		return fmt.Errorf("catalog options: CacheDir is %q, want an absolute path", o.CacheDir)
	}
	if o.Env.Dir == "" && !filepath.IsAbs(o.Project) && o.Project != "" {
		return errors.New("catalog options: Project is relative and Env.Dir is empty; give an absolute project path")
	}
	return nil
}
