// Package simdisk is a disk in memory that fails on demand, and that forgets at a power
// cut what was not synced: a [diskfs.FS] for tests of stores and of whole runtimes.
//
// Promises:
//
//   - Honesty. What was synced survives everything: [Disk.Kill] and [Disk.PowerCut].
//   - Spite. A power cut keeps any part of what was not synced, page by page and name by name, as a seed decides; what a
//     failed sync should have written is lost at a power cut even when a later sync succeeds.
//   - Faults. A [FaultFunc] sees every operation before it happens and may fail it, a write after some of its bytes.
//   - Death. After a kill every file, lock and FS that was given out before answers [ErrDead]. [Disk.FS] gives out new life.
//   - Concurrency. A Disk is safe for concurrent use. Nothing blocks.
//
// For example, a store that is killed in the middle of its third sync:
//
//	disk := simdisk.New()
//	disk.Inject(simdisk.OnNth(simdisk.Sync, 3, simdisk.Fault{Err: simdisk.ErrDead, Kill: true}))
//	store, err := jsonfile.Open("/data", &jsonfile.Options{FS: disk.FS()})
package simdisk
