// Package qwen reads the sessions that Qwen Code keeps.
//
// # What it knows
//
//   - A session is projects/<encoded directory>/chats/<id>.jsonl below the folder of runtime files; older versions wrote to
//     tmp/<hash>/chats. An archived one lies in chats/archive. The directory is recorded in each line; the folder's name is not decoded.
//   - The folder of runtime files is named by QWEN_RUNTIME_DIR, else by the settings of the present directory or of the person, else it is
//     QWEN_HOME or ~/.qwen. Where settings name it, the usual one is read as well, because older sessions stay there.
//   - The id is the file's name, and the file must bear it too: of another one Qwen Code says that it does not exist.
//   - The last title counts, whether a person or the model gave it: the program itself never replaces a given one.
//   - A session that was branched off names its source in each line. One that another session started names that one; it
//     is non-interactive when it was an agent that asked for it. Headless runs are not marked.
//   - Sessions of before the change to JSON lines (chats/session-*.json) cannot be resumed any more.
//
// # Promises
//
//   - A transcript costs what package outline says.
//   - See package catalog for what holds for every reader.
package qwen
