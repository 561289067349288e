// Package screen puts text on a terminal, or where a terminal might read it later: it cleans what comes from models, files and tools, lays it out
// in labelled rows, and redraws rows that are still growing. The commands of agentd and agf use it.
//
// Promises:
//
//   - Harmless. What [Clean] and [CleanLine] return holds no control character but the line end and the tab, and no character that reorders or hides
//     text. They lose nothing that can be seen.
//   - Exact rows. [Wrap] returns rows that no terminal of that width breaks again, so that a [Region] knows how many there are.
//   - No colour unless asked for. The zero [Styles] return their text as it is.
//   - Concurrency. Functions are pure. A [Region] belongs to one goroutine. Writing blocks as long as the writer does.
//
// For example:
//
//	region := screen.NewRegion(os.Stdout)
//	for draft := range drafts {
//		region.Update(screen.Wrap(screen.Clean(draft), 80))
//	}
//	region.Commit()
package screen
