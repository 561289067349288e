package claude_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentd/providers/catalog"
	"agentd/providers/catalog/claude"
	"agentd/testkit/catalogtest"
)

// benchSessions is how many sessions of 160 KB are read; AGF_BENCH_SESSIONS=10000 makes the store of 1.6 GB that the
// targets speak of.
func benchSessions(b *testing.B) int {
	b.Helper()
	n, err := strconv.Atoi(os.Getenv("AGF_BENCH_SESSIONS"))
	if err != nil {
		return 500
	}
	return n
}

func bigStore(b *testing.B) (env catalog.Env, files []string) {
	b.Helper()
	env = catalogtest.NewEnv(b)
	filler := strings.Repeat(`lorem ipsum dolor sit amet, consectetur \"adipiscing\" elit, sed do eiusmod tempor incididunt ut labore\n`, 62)
	for i := range benchSessions(b) {
		cwd := fmt.Sprintf("/home/dev/code/project-%03d", i%97)
		id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", i)
		at := catalogtest.Time - int64(i)*60_000
		var out strings.Builder
		fmt.Fprintf(&out, `{"type":"ai-title","aiTitle":"Title %d","sessionId":%q}`+"\n", i, id)
		for k := range 20 {
			stamp := time.UnixMilli(at + int64(k)*2000).UTC().Format("2006-01-02T15:04:05.000Z")
			head := fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"userType":"external","entrypoint":"cli","cwd":%q,"sessionId":%q,"version":"2.1.197","gitBranch":"main"`, cwd, id)
			fmt.Fprintf(&out, `%s,"type":"user","message":{"role":"user","content":"Prompt %d of session %d"},"uuid":"%d-%d","timestamp":%q,"promptSource":"typed"}`+"\n", head, k, i, i, k, stamp)
			fmt.Fprintf(&out, `%s,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"%s"}]},"uuid":"%d-%dt","timestamp":%q}`+"\n", head, filler, i, k, stamp)
			fmt.Fprintf(&out, `%s,"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"%s"}]},"uuid":"%d-%da","timestamp":%q}`+"\n", head, filler[:1200], i, k, stamp)
		}
		rel := ".claude/projects/" + strings.ReplaceAll(cwd, "/", "-") + "/" + id + ".jsonl"
		catalogtest.Put(b, env, rel, out.String(), 0)
		files = append(files, filepath.Join(env.Home, filepath.FromSlash(rel)))
	}
	return env, files
}

// plainRead reads the head and the tail of each file, and does nothing with them: the limit of the machine.
func plainRead(b *testing.B, files []string) {
	b.Helper()
	pool := sync.Pool{New: func() any { return new([32 << 10]byte) }}
	inParallel(files, func(path string) {
		f, err := os.Open(path)
		if err != nil {
			b.Error(err)
			return
		}
		defer func() { _ = f.Close() }() // It was only read.
		buf, ok := pool.Get().(*[32 << 10]byte)
		if !ok {
			return
		}
		defer pool.Put(buf)
		if info, err := f.Stat(); err == nil {
			_, _ = f.ReadAt(buf[:16<<10], 0)                      // What is read does not matter.
			_, _ = f.ReadAt(buf[:], max(0, info.Size()-(32<<10))) // Likewise.
		}
	})
}

// plainLook lists the folders of the files and asks for the state of each file, as the commands of the system do: the limit of the
// machine for a search that reads nothing.
func plainLook(b *testing.B, files []string) {
	b.Helper()
	folders := map[string]bool{}
	for _, path := range files {
		if dir := filepath.Dir(path); !folders[dir] {
			folders[dir] = true
			if _, err := os.ReadDir(dir); err != nil {
				b.Fatal(err)
			}
		}
	}
	inParallel(files, func(path string) {
		if _, err := os.Stat(path); err != nil {
			b.Error(err)
		}
	})
}

// inParallel calls work for each file, in as many goroutines as a catalog has.
func inParallel(files []string, work func(path string)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range catalog.DefaultWorkers() {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return
				}
				work(files[i])
			}
		})
	}
	wg.Wait()
}

// timed calls work again and again and reports the median in milliseconds, which is what the targets speak of.
func timed(b *testing.B, work func()) {
	b.Helper()
	var all []time.Duration
	for b.Loop() {
		start := time.Now()
		work()
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
}

// BenchmarkStore compares a first and a warm search and a lookup with a plain read of the same bytes, and with a plain look at the same files.
func BenchmarkStore(b *testing.B) {
	env, files := bigStore(b)
	cache := b.TempDir()
	fresh := func(b *testing.B, dir string) *catalog.Catalog {
		b.Helper()
		c, err := catalog.New([]catalog.Reader{claude.New()}, &catalog.Options{Env: &env, CacheDir: dir})
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	search := func(b *testing.B, c *catalog.Catalog) {
		b.Helper()
		found, err := c.Search(b.Context(), catalog.SearchRequest{Query: "project-001"})
		if err != nil || found.Total == 0 {
			b.Fatalf("Search = %v, %v", found, err)
		}
	}
	show := func(b *testing.B, c *catalog.Catalog) {
		b.Helper()
		_, err := c.Show(b.Context(), catalog.ShowRequest{Agent: "claude", SessionID: "00000001-0000-4000-8000-000000000000"})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("plain read", func(b *testing.B) { timed(b, func() { plainRead(b, files) }) })
	b.Run("plain look", func(b *testing.B) { timed(b, func() { plainLook(b, files) }) })
	b.Run("first search", func(b *testing.B) { timed(b, func() { search(b, fresh(b, "")) }) })
	b.Run("search in a running program", func(b *testing.B) {
		c := fresh(b, cache)
		search(b, c)
		timed(b, func() { search(b, c) })
	})
	b.Run("search in a running program while a session grows", func(b *testing.B) {
		c := fresh(b, "")
		search(b, c)
		timed(b, func() { grow(b, files[0]); search(b, c) })
	})
	b.Run("search with a cache", func(b *testing.B) {
		search(b, fresh(b, cache)) // It fills the cache, and finds the session that grew.
		timed(b, func() { search(b, fresh(b, cache)) })
	})
	b.Run("show without a cache", func(b *testing.B) { timed(b, func() { show(b, fresh(b, "")) }) })
	b.Run("show with a cache", func(b *testing.B) { timed(b, func() { show(b, fresh(b, cache)) }) })
	b.Run("process", func(b *testing.B) { benchProcess(b, env) })
}

// grow appends a line to a session, as its agent does while somebody searches.
func grow(b *testing.B, path string) {
	b.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	_, err = f.WriteString(`{"type":"progress"}` + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		b.Fatal(err)
	}
}

// benchProcess measures whole processes over all readers, from their start to their end, and the largest memory of one.
func benchProcess(b *testing.B, env catalog.Env) {
	program := filepath.Join(b.TempDir(), "agf")
	build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-o", program, "agentd/cmd/agf")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building agf: %v\n%s", err, out)
	}
	vars := []string{"HOME=" + env.Home, "XDG_CACHE_HOME=" + b.TempDir(), "PATH=" + os.Getenv("PATH")}
	for _, bench := range []struct {
		name string
		args []string
	}{
		{"start alone", []string{"--version"}},
		{"first search", []string{"search", "project-001"}},
		{"search with a cache", []string{"search", "--cache", "project-001"}},
		{"show with a cache", []string{"show", "--cache", "--agent", "claude", "00000001-0000-4000-8000-000000000000"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var peak int64
			run := func() {
				cmd := exec.CommandContext(b.Context(), program, bench.args...)
				cmd.Env = vars
				if out, err := cmd.Output(); err != nil {
					b.Fatalf("agf %q: %v\n%s", bench.args, err, out)
				}
				peak = max(peak, peakMemory(cmd.ProcessState))
			}
			run()
			timed(b, run)
			if peak > 0 {
				b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
			}
		})
	}
}
