package catalog

import (
	"os"
	"path/filepath"
	"strings"
)

// program finds a program in PATH, without running it. A name that holds a separator is a path. Relative entries of
// PATH are relative to Dir; the first hit wins.
func (e Env) program(name string) (path string, found bool) {
	if strings.ContainsAny(name, `/\`) && (e.OS == "windows" || strings.Contains(name, "/")) {
		path = e.Tilde(name)
		return path, e.executable(path)
	}
	for _, dir := range filepath.SplitList(e.Var("PATH")) {
		if dir == "" {
			continue
		}
		for _, ext := range e.extensions(name) {
			if path = filepath.Join(e.Abs(dir), name+ext); e.executable(path) {
				return path, true
			}
		}
	}
	return name, false
}

// extensions lists what may follow a program's name.
func (e Env) extensions(name string) []string {
	if e.OS != "windows" {
		return []string{""}
	}
	list := e.Var("PATHEXT")
	if list == "" {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	exts := strings.Split(list, ";")
	for _, ext := range exts {
		if ext != "" && strings.EqualFold(filepath.Ext(name), ext) {
			return []string{""}
		}
	}
	return exts
}

func (e Env) executable(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return e.OS == "windows" || info.Mode().Perm()&0o111 != 0
}
