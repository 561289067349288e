// Command conformance is a server for the official conformance suite of the Model Context Protocol and for its inspector. It is
// started by scripts/conformance.sh and is no part of the product.
//
// The suite looks for tools, prompts and resources by name ("fixtures"). This program shows them on the product's own HTTP front: its router
// of lifecycles, its checks and its guards, with the tools in its registry and changed by its sync. Three modes:
//
//	conformance fixtures    the fixtures, over HTTP
//	conformance plain       an endpoint of a session with two tools, over HTTP, as agentd has them
//	conformance stdio       the same tools over stdio, as "agentd mcp" has them
//
// The HTTP modes print "listening URL" and serve until they are interrupted or their standard input ends. They ask for no token, because the suite cannot send one.
package main
