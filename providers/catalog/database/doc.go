// Package database reads SQLite files that belong to a program that may be running, without touching them.
//
// # Promises
//
//   - No file is created, changed or locked, neither the database nor anything beside it: the files are read through a
//     read-only file layer of our own, and what SQLite wants to keep in shared memory stays in this process.
//   - What stands only in the write-ahead log is seen, with or without the -shm file.
//   - A lock held by another process never makes a reader wait.
//   - When the owner rewrote the database while it was read, the reading is repeated, up to three times.
//   - A rollback journal is not played back. A database that a crash left in the middle of a transaction in rollback mode
//     is read as it stands.
//   - What is not a regular file, not a database, or too large is refused before SQLite sees it.
//
// # Use
//
//	err := database.View(ctx, path, func(ctx context.Context, db *database.DB) error {
//		sessions = sessions[:0] // The function may run again.
//		if ok, err := db.HasTable(ctx, "session"); err != nil || !ok {
//			return err
//		}
//		rows, err := db.Query(ctx, "SELECT id, title FROM session")
//		...
//	})
package database
