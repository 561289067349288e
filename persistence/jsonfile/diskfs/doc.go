// Package diskfs is the small file-system port that persistence/jsonfile stands on:
// [FS] and [File], and [OS], which is the real one.
//
// It exists so that a test can put a disk that fails, or that forgets what was
// not synced, under the real store. Nobody else needs it.
//
// Promises of [OS], which another implementation keeps too:
//
//   - Durability. Bytes written before [File.Sync] returned nil survive a power cut, with the size of the file.
//     A name that was made, renamed or removed before [FS.SyncDir] of its folder returned nil stays so.
//   - Whole renames. After a crash the target of [FS.Rename] is the old file or the new one.
//   - Errors. They wrap the system's error, so errors.Is(err, fs.ErrNotExist) and errors.Is(err, syscall.ENOSPC) work.
//   - Concurrency. An FS is safe for concurrent use; so is a File, but for Read and Close.
//   - Blocking. Every method may block in I/O.
//
// For example, to write a file that survives:
//
//	file, err := fsys.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
//	_, err = file.WriteAt(data, 0)
//	err = file.Sync()
//	err = file.Close()
//	err = fsys.SyncDir(filepath.Dir(path))
package diskfs
