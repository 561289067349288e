// Package home is agentd's data directory as the command line sees it: where it is, which files lie in it, how it is read while
// another process owns it, and the small files of grants and preset overrides. The commands of agentd use it.
//
//	{data-dir}/LOCK                             the owner's lock
//	{data-dir}/agent-sessions/{id}.json         one file for each session
//	{data-dir}/agent-sessions/journal/          what is not in them yet
//	{data-dir}/agent-artifacts/{id}/            files that a session's tools made
//	{data-dir}/agent-approvals/grants.json      standing approvals
//	{data-dir}/agent-presets/overrides.json     presets that a person turned on or off
//	{data-dir}/chat-history                     lines typed in agentd chat
//
// Promises:
//
//   - Reading is free. [Dir.Read] takes no lock and changes, makes and removes nothing. It sees everything that is durable at that moment, also of a
//     session that another process is just running, and keeps nobody from starting.
//   - Small files are written whole and durably. A file that is damaged or of another version is an error that names it, and stays as it is.
//   - The latest session is found without reading every session.
//   - Blocking. Everything that touches the disk blocks as long as the disk does.
//
// For example:
//
//	dir, err := home.Find("", os.Getenv)
//	store, err := dir.Read()
//	defer store.Close()
//	listing, err := store.List(ctx)
package home
