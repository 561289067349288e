#!/usr/bin/env bash
# Shows "agf mcp" to the real clients: Claude Code, Codex, Gemini CLI, OpenCode and the MCP Inspector; and "agentd mcp --http" to those of them that
# tell whether they are connected.
#
#   scripts/clients.sh           everything; returns 0 only if everything passes
#
# It needs Go, npm and, the first time, a package registry: the clients and Node 22 are kept in .cache/clients (1.4 GB). What is run then has an empty
# home and no network but loopback. Nothing is left running.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/clients
modules=$cache/node_modules

claude_version=2.1.197
codex_version=0.171.0
gemini_version=0.61.0
opencode_version=1.18.33
inspector_version=2.12.0

say() { printf '\n== %s\n' "$*"; }
die() { printf 'clients: %s\n' "$*" >&2; exit 1; }

# shellcheck source=scripts/npm-tools.sh
source "$root/scripts/npm-tools.sh"

# Two packages put their program in place by a script; the others' scripts only build what is not used here.
place_programs() {
  (cd "$modules/@anthropic-ai/claude-code" && "$node" install.cjs)
  (cd "$modules/opencode-ai" && "$node" postinstall.mjs)
}

# alone CHECK COMMAND...: in a network of its own, which has nothing but loopback, if the system lets us.
alone() {
  # shellcheck disable=SC2016 # The inner shell expands it.
  local inner='ip link set lo up && exec "$@"'
  if unshare -rn sh -c "$inner" sh true 2> /dev/null; then
    unshare -rn sh -c "$inner" sh "$@"
  else
    say "this system gives us no network of our own: a dead proxy stands in the way instead"
    "$@"
  fi
}

npm_tools "$cache" place_programs \
  "@anthropic-ai/claude-code@$claude_version" "@openai/codex@$codex_version" "@google/gemini-cli@$gemini_version" \
  "opencode-ai@$opencode_version" "@modelcontextprotocol/inspector@$inspector_version"
say "building"
cd "$root"
go build -trimpath -o "$cache/agf" ./cmd/agf
go test -tags e2e -c -o "$cache/clients.test" ./cmd/agf
go test -tags e2e -c -o "$cache/agentd.test" ./cmd/agentd
say "clients and inspector, with an empty home and no network"
cd cmd/agf
alone "$cache/clients.test" -test.run '^TestE2E' -test.v -test.timeout 20m -test.count 1 -clients "$cache"
cd ../agentd
alone "$cache/agentd.test" -test.run '^TestClients' -test.v -test.timeout 20m -test.count 1 -clients "$cache"
say "everything passes"
