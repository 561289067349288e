// Package gemini reads the sessions that Gemini CLI keeps, both as JSON lines, as recent versions write them, and as one JSON object.
//
// # What it knows
//
//   - A session is a file tmp/<folder>/chats/session-<time>-<start of id>.jsonl or .json; its id stands inside. A sub-agent's is
//     chats/<id of the parent>/<id>.jsonl.
//   - The folder's name does not tell the project. That is said by .project_root in it, by the one of the same name below history, or
//     by projects.json; else it is the path whose SHA-256 the folder or the session bears: a known one, the one that the model was
//     told, or one that its tools used.
//     When none does, the session is listed without a project.
//   - A resume leaves a second file with the same id and nothing said in it: that is no session.
//   - The title is the summary that a later start of the program wrote. What the program itself says in the user's place is no
//     prompt.
//   - Headless runs cannot be told from others. Branches are not recorded.
//
// # Promises
//
//   - A file of JSON lines of more than 512 KiB costs its head up to the first prompt, at most 2 MiB, and its last 128 KiB; one of JSON
//     of more than 4 MiB its first 1 MiB and its last 64 KiB.
//   - A damaged projects.json costs no session that something else can place.
//   - See package catalog for what holds for every reader.
package gemini
