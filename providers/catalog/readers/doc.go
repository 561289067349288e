// Package readers lists the readers of all session stores that are known. The programs use it; a host program that wants
// fewer gives its own list to [catalog.New].
package readers
