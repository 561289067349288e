// Package atomicfile writes small files whole: grants, overrides, configuration.
// Presets, actors and commands use it; the session store has its own writer, which
// streams.
//
// Promises:
//
//   - Atomicity. Whoever opens the path reads the old content or the new, never a half, also after a crash.
//   - Durability. After nil the new content survives a power cut.
//   - Failure. After an error the old content is in place, and no temporary file is left behind if the disk
//     lets go of it; the one exception, a failed sync of the folder, is [ErrUnconfirmed].
//   - Privacy. Files are made with mode 0600 and folders with 0700.
//   - Concurrency. Writers of one path may run at the same time: one of them is last.
//   - Blocking. Every function blocks in I/O: temporary file, sync, rename, sync of the folder.
//
// For example:
//
//	if err := atomicfile.WriteJSON(filepath.Join(dir, "grants.json"), grants); err != nil {
//		return fmt.Errorf("storing grants: %w", err)
//	}
package atomicfile
