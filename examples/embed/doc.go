// Embed is a whole program that runs agentd inside: a function as the agent, sessions on disk, one turn.
package main
