// Command agf finds the sessions that coding agents left on this machine. It reads their stores and changes nothing.
//
//	agf list parser
//
// It is wiring: the commands are package agfcmd's, what they find is package catalog's.
//
// Promises:
//
//   - Exit codes are those of package agfcmd, which "agf help exit-codes" prints.
//   - Ctrl-C ends it at once: what runs is cancelled, and what does not come back by then is left. A second one kills.
package main
