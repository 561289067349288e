package agentd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goFiles are the only files outside tests that may hold a go statement (or sync.WaitGroup.Go): each of their goroutines has
// an owner, a stop signal and a done signal in the same struct.
func goFiles() []string {
	return []string{
		"actors/dispatcher.go",
		"actors/workers.go",
		"cmd/agentd/asker.go",
		"cmd/agentd/decide.go",
		"cmd/agentd/driver.go",
		"cmd/agentd/editor.go",
		"cmd/agentd/feed.go",
		"cmd/agentd/run.go",
		"persistence/jsonfile/close.go",
		"persistence/jsonfile/list.go",
		"presets/mcp/http.go",
		"presets/mcp/http_mount.go",
		"presets/mcp/progress.go",
		"presets/mcp/stdio.go",
		"presets/process/process.go",
		"providers/catalog/scan.go",
		"providers/opencode/server.go",
		"providers/opencode/stop.go",
		"providers/opencode/stream.go",
	}
}

// folders are the top-level folders that hold Go, and what each may import of this module.
func folders() map[string][]string {
	return map[string][]string{
		"messages":    {},
		"persistence": {"messages", "persistence"},
		"presets":     {"messages", "presets"},
		"providers":   {"messages", "persistence", "presets", "providers"},
		"actors":      {"messages", "persistence", "presets", "providers", "actors"},
		"testkit":     {"messages", "persistence", "presets", "providers", "actors", "testkit"},
		"cmd":         {"messages", "persistence", "presets", "providers", "actors", "cmd"},
		"examples":    {"messages", "persistence", "presets", "providers", "actors"},
	}
}

// bannedNames say nothing about what is inside.
func bannedNames() []string {
	return []string{"utils", "util", "helpers", "helper", "common", "types", "misc"}
}

type source struct {
	path string
	dir  string
	file *ast.File
	fset *token.FileSet
}

// sources parses every Go file of the module that is not a test.
func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" || base == "tools") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		list = append(list, source{path: name, dir: path.Dir(name), file: file, fset: fset})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("found no source: run this test from the module's root")
	}
	return list
}

func TestGoroutinesStandWhereTheyAreOwned(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if !startsGoroutine(n) {
				return true
			}
			used[s.path] = true
			if !strings.HasPrefix(s.path, "testkit/") && !slices.Contains(goFiles(), s.path) {
				t.Errorf("%s: a goroutine starts in a file that is not listed in goFiles", s.fset.Position(n.Pos()))
			}
			return true
		})
	}
	for _, name := range goFiles() {
		if !used[name] {
			t.Errorf("goFiles lists %s, which starts no goroutine", name)
		}
	}
}

func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		// sync.WaitGroup.Go and errgroup.Group.Go take one function.
		selector, ok := n.Fun.(*ast.SelectorExpr)
		return ok && selector.Sel.Name == "Go" && len(n.Args) == 1
	default:
		return false
	}
}

func TestArrowsPointDown(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		top, _, _ := strings.Cut(s.dir, "/")
		allowed, known := folders()[top]
		if !known {
			if s.dir != "." {
				t.Errorf("%s: %q is not a folder of the house", s.path, top)
			}
			continue
		}
		for _, spec := range s.file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			inner, ours := strings.CutPrefix(imported, "agentd/")
			if ours && !slices.ContainsFunc(allowed, func(a string) bool { return inner == a || strings.HasPrefix(inner, a+"/") }) {
				t.Errorf("%s imports %s, which does not stand below it", s.path, imported)
			}
			if top == "messages" && strings.Contains(imported, ".") {
				t.Errorf("%s imports %s: messages use the standard library only", s.path, imported)
			}
			checkConfined(t, s, imported)
		}
	}
}

// checkConfined holds the libraries that only some packages may meet.
func checkConfined(t *testing.T, s source, imported string) {
	t.Helper()
	switch {
	case strings.HasPrefix(imported, "github.com/asynkron/protoactor-go"):
		if s.dir != "actors" && !strings.HasPrefix(s.dir, "testkit") {
			t.Errorf("%s imports the actor engine, which only actors and testkit meet", s.path)
		}
	case strings.HasPrefix(imported, "github.com/modelcontextprotocol/go-sdk"):
		if !strings.HasPrefix(s.dir, "presets/mcp") && !strings.HasPrefix(s.path, "providers/catalog/mcp") {
			t.Errorf("%s imports the MCP SDK, which is confined to presets/mcp and providers/catalog/mcp*.go", s.path)
		}
	}
}

func TestEveryPackageTellsItsStory(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, s := range sources(t) {
		documented[s.dir] = documented[s.dir] || path.Base(s.path) == "doc.go" && s.file.Doc != nil
	}
	for _, dir := range slices.Sorted(maps.Keys(documented)) {
		if !documented[dir] {
			t.Errorf("%s has no doc.go with a package comment", dir)
		}
	}
}

func TestNamesSayWhatIsInside(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		for _, name := range []string{path.Base(s.dir), strings.TrimSuffix(path.Base(s.path), ".go")} {
			if slices.Contains(bannedNames(), name) {
				t.Errorf("%s: the name %q says nothing", s.path, name)
			}
		}
	}
}

// TestNothingOfTheEngineShows holds the promise that no exported signature of actors mentions the engine.
func TestNothingOfTheEngineShows(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.dir != "actors" {
			continue
		}
		for _, decl := range s.file.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok || !function.Name.IsExported() || receiverIsHidden(function) {
				continue
			}
			ast.Inspect(function.Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == "actor" {
					t.Errorf("%s: %s shows the engine", s.fset.Position(function.Pos()), function.Name.Name)
				}
				return true
			})
		}
	}
}

func receiverIsHidden(function *ast.FuncDecl) bool {
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return false
	}
	expr := function.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	id, ok := expr.(*ast.Ident)
	return ok && !id.IsExported()
}

// TestTopLevelIsTheHouse holds the fixed top-level folders.
func TestTopLevelIsTheHouse(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	allowed := append(slices.Collect(maps.Keys(folders())), "docs", "scripts", "skills", "tools", "bin", "dist")
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s is not a folder of the house", e.Name())
		}
	}
}
