// Command agf finds the sessions that coding agents left on this machine. It reads their stores and changes nothing. Every JSON
// command writes one versioned envelope to standard output; diagnostics go to standard error. It exits with 0 after
// an answer, 1 after a failed operation, which is an envelope too, and 2 after wrong usage.
package main
