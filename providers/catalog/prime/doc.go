// Package prime reads the sessions that Prime Agent keeps. The program was made from pi and writes the same transcripts, with
// notes of its own between what was said.
//
// # What it knows
//
//   - A session is sessions/<id>.jsonl. The folder is named by the environment, by the settings of the project or of the person, or is the
//     usual one; when settings name it, the usual one is read as well, because older sessions stay there.
//   - Only messages of a person or of the model count as activity: the program notes other things long after.
//   - A session of a depth above zero was started by another one, which its first record names. Those lie in session-artifacts/<id>/sub-<name>
//     beside the folder, or among the others. A parent without depth is what a fork was made from.
//   - The agent's account of where it stands is the recap, as long as it is of all messages. The last noted branch and the last noted state
//     count.
//
// # Promises
//
//   - As in package pi.
package prime
