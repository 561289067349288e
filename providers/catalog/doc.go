// Package catalog finds the sessions that coding agents left on this machine: Claude Code, Codex, Gemini CLI,
// OpenCode and a dozen more, each with a store of its own. It searches them, looks one up, and says how it would be
// resumed. It reads and nothing else: no agent is started, no store is written, no network is used.
//
// The commands of agf, its MCP server, and host programs use a [Catalog]. Each agent has a [Reader] in a package below this
// one; package readers lists them all.
//
// # Promises
//
//   - Read-only. No file of a store is created, changed or locked. Nothing at all is written unless [Options].CacheDir is set.
//   - Bounded. A file costs its head and its tail, whatever its size; answers have the limits of the contract
//     ([MaxPage] and its neighbours).
//   - Nothing is lost in silence. What was seen and is not listed has a [Reason]; reasons that mean a loss become a
//     [Warning] in the answer, and all are in the [Report].
//   - A damaged record costs at most itself, a damaged file at most itself, a broken store at most itself, a panic in
//     a reader the file that it was reading. One selected store that cannot be read at all is [ScanFailed], never an empty list.
//   - Deterministic. The same stores give the same answer in the same order: newest first, then by agent, project
//     and id; with a query, best first, and among equals in that order.
//   - Fresh. Each call looks at every file's size and time. Only what did not change is taken from memory.
//   - A [Catalog] is safe for concurrent use. Calls block on the file system, return the context's cause soon after it ends, and
//     leave no goroutine behind.
//   - The MCP server ([Catalog.ServeMCP]) is this and nothing more: the same operations with the same answers, two at a time, and what was parsed
//     stays in memory between calls.
//   - All text in answers is untrusted data from the stores. It is valid UTF-8 and may hold anything, control
//     characters included; escape it before a terminal shows it.
//
// # Use
//
//	cat, err := catalog.New(readers.All(), &catalog.Options{Version: "1.0.0"})
//	found, err := cat.Search(ctx, catalog.SearchRequest{Query: "parser"})
//	for _, s := range found.Sessions {
//		fmt.Println(s.Key, s.ProjectPath)
//	}
//
// # Writing a reader
//
// A reader is a package providers/catalog/<vendor> with a type without state. Its files are by custom locate.go (Roots,
// Discover), parse.go (Parse, Assemble), resume.go (Modes, Launch), content.go (Records). It stands on the packages
// bounded (files, lines, JSON members, times, text) and database (SQLite), and never opens a file in another way.
//
// The work has three phases, and the catalog calls them in this order for every question:
//
//  1. Discover lists files by name. It opens nothing, so that it stays cheap; it uses [bounded.Walk]. With [Discovery].Exact
//     set and ids in file names it lists just the files of that id, which makes a lookup fast.
//  2. Parse reads one file, in parallel with others, and emits what it tells: whole sessions, or fragments. The catalog remembers
//     the result by path, size and time of Unit.Path and all of Unit.With. So Parse must use these files alone, or tell
//     of others with [Parsing.Uses]. What comes from another file that changes on its own (a history, an index, a map of projects) is a unit of its own kind.
//  3. Assemble (optional) joins the fragments of all files, without reading. Afterwards the catalog unites sessions
//     of the same id and project: the newest one leads, and empty fields are filled from the others.
//
// Rules for what is emitted:
//
//   - The id is what the resume command takes. The project is the recorded directory, never a decoded folder name unless
//     there is nothing else. Times go through [Parsing.Believe]; the newest believed one counts; fall back to
//     the file's time.
//   - Title: the name that a person gave, else the agent's own. Prompts: first, then latest. Leave out what a machine wrote.
//   - A headless run, an SDK run and a sub-agent's session are NonInteractive, the latter with Parent and Relation. Archived ones are
//     Archived. The catalog filters; a reader never hides them.
//   - A fork or branch has its own id: emit it, with Parent where the store tells it.
//   - Everything else that lies there is skipped with a [Reason], so that the doctor can tell. Do not report what
//     was never meant to be a session (notes, locks, memory folders).
//
// A whole reader for a store of one JSON-lines file for each session:
//
//	// Reader reads the sessions of Example.
//	type Reader struct{}
//
//	// New returns the reader.
//	func New() Reader { return Reader{} }
//
//	func (Reader) Agent() catalog.Agent { return catalog.Example }
//
//	func (Reader) Roots(env catalog.Env) []catalog.Root {
//		path, configured := env.Root("EXAMPLE_HOME", env.InHome(".example"))
//		if configured {
//			return []catalog.Root{{Path: path, Var: "EXAMPLE_HOME"}}
//		}
//		return []catalog.Root{{Path: path}}
//	}
//
//	func (r Reader) Discover(ctx context.Context, d *catalog.Discovery) error {
//		dir := filepath.Join(r.Roots(d.Env)[0].Path, "sessions")
//		return bounded.Walk(ctx, dir, bounded.WalkOptions{Depth: 2}, func(e bounded.Entry) {
//			id, ok := strings.CutSuffix(filepath.Base(e.Path), ".jsonl")
//			if ok && (d.Exact == "" || d.Exact == id) {
//				d.Add(catalog.Unit{Path: e.Path})
//			}
//		}, d.Fault)
//	}
//
//	func (Reader) Parse(_ context.Context, p *catalog.Parsing) error {
//		f, err := p.Open(p.Unit.Path)
//		if err != nil {
//			return err
//		}
//		defer func() { _ = f.Close() }()
//		s := catalog.Session{TimeMS: p.Believe(f.ModTime.UnixMilli())}
//		for line, err := range f.Head(64 << 10) {
//			if err != nil {
//				return err
//			}
//			for key, value := range bounded.Fields(line.Data) {
//				switch string(key) {
//				case "id":
//					s.ID = value.Text(1024)
//				case "cwd":
//					s.ProjectPath = value.Text(4096)
//				}
//			}
//		}
//		if s.ID == "" {
//			p.Skip("", catalog.NotASession)
//			return nil
//		}
//		p.Emit(s)
//		return nil
//	}
//
//	func (Reader) Modes() []catalog.Mode { return []catalog.Mode{{Name: catalog.DefaultMode}} }
//
//	func (Reader) Launch(env catalog.Env, s *catalog.Session) catalog.Launch {
//		return catalog.Launch{Args: []string{"--resume", s.ID}}
//	}
//
// Its test writes a small sound store and gives it to testkit/catalogtest, which then breaks it in every way it knows; it has a
// fuzz target for each kind of file (catalogtest.Fuzz); and it is added to package readers. Package claude is the model.
package catalog
