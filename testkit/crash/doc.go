// Package crash is the crash test of the runtime: it kills a process at random moments of busy work on many sessions, again and
// again, and checks every promise of durability on what is left. It holds tests only:
//
//	go test ./testkit/crash -run TestCrash -count=1 -crash.count=1000
//
// A child process (the test binary itself) runs a runtime on a data directory: turns with items, drafts, data and calls of a tool that
// counts its runs, cancels, newer prompts, deletions, folds with small segments and short delays, and clean stops and starts. Each thing that the
// runtime acknowledges to it, it tells the parent before it goes on. The parent kills it, opens the directory itself, compares, takes a
// new turn in some of the sessions, stops cleanly, and reads the files with a plain JSON parser. Then the next child goes on in the same directory.
//
// What is checked after each kill:
//
//   - Everything that was acknowledged is there once, in order: sessions, inputs, items, final texts, data, endings, deletions.
//   - What was seen once never changes: the history of an ended turn is compared byte by byte after every later kill.
//   - What was not asked for is not there. A deleted session never comes back.
//   - No file is unreadable. The process starts, whatever was torn.
//   - Every turn has ended, once. No draft is left open; every tool call has one result.
//   - No tool ran twice, and none ran whose start was not recorded.
//   - Every session is idle and takes a new turn.
//   - After a clean stop the journal is empty, and the JSON files alone are complete.
//
// The seed is printed; -crash.seed=N runs the same plan again, though not the same timing.
package crash
