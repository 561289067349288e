// Package agentd is a durable actor runtime for AI agents, and a finder of local coding-agent sessions. This file is the map; the code is in the folders.
//
//	cmd/agentd  cmd/agf            wiring only: flags, config, signals, exit codes
//	   |
//	actors/agents/<agent>          local, function, space: orchestration, one folder each
//	   |            \
//	actors           providers/<vendor>        clients of vendors: no common interface
//	   |                |   providers/catalog  the session finder's core; providers/catalog/<vendor> its readers
//	   |  \             |
//	presets  persistence|          presets: what may be used, by whom, at what risk, and its MCP exposure
//	   \      |        /           persistence: the store port, its file and memory stores
//	     messages                  values that cross a mailbox, a file or a wire; standard library only
//	testkit                        public test support; nothing outside tests imports it
//
// Arrows only point down; architecture_test.go and the linters hold them. Start reading at actors/doc.go.
package agentd
