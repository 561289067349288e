package folder

// openNonblock has no meaning here: pipes are no files.
const openNonblock = 0

// SyncDir does nothing: Windows keeps names durable by itself and cannot sync a folder.
func (f *Folder) SyncDir(string) error { return nil }
