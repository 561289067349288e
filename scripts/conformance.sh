#!/usr/bin/env bash
# Holds the MCP fronts to the official conformance suite and to the official inspector.
#
#   scripts/conformance.sh           everything; returns 0 only if everything passes
#
# The suite runs against its own fixtures on our HTTP front (in a test binary), and against the tools of agentd itself as far as it needs no fixtures.
#
# It needs Go, npm and, the first time, a package registry: Node 22, two releases of the suite and the inspector are kept in
# .cache/conformance. The servers under test listen on loopback and end with this script.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/conformance
out=$cache/results
server=$cache/server
shipped=$cache/agentd
data=
stable_version=0.1.16         # knows 2025-11-25
next_version=0.2.0-alpha.12   # knows 2026-07-28, and frozen sets of requirements
inspector_version=2.12.0

say() { printf '\n== %s\n' "$*"; }
die() { printf 'conformance: %s\n' "$*" >&2; exit 1; }

# shellcheck source=scripts/npm-tools.sh
source "$root/scripts/npm-tools.sh"

# The servers that this script started, by process id.
servers=()
stop_servers() {
  local pid
  for pid in ${servers[@]+"${servers[@]}"}; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  servers=()
}
leave() {
  stop_servers
  if [[ -n $data ]]; then rm -rf "$data"; fi
}
trap leave EXIT

# start NAME COMMAND... starts a server, and sets started to its process id and url to the one that it names.
start() {
  local log=$out/server-$1.log i
  shift
  "$@" > "$log" 2>&1 < /dev/null &
  started=$!
  servers+=("$started")
  for ((i = 0; i < 300; i++)); do
    if url=$(grep -om1 'http://[^ ]*' "$log"); then return; fi
    kill -0 "$started" 2> /dev/null || break
    sleep 0.1
  done
  die "the server did not start: $*: $(<"$log")"
}

# macOS has no such command; there the suite's own limits have to do.
command -v timeout > /dev/null || timeout() { shift; "$@"; }

failed=0
# expect RC NAME COMMAND...: the command must return RC.
expect() {
  local want=$1 name=$2 log=$out/$2.log rc=0
  shift 2
  timeout 600 "$@" > "$log" 2>&1 || rc=$?
  if [[ $rc == "$want" ]]; then
    printf 'ok    %-44s %s\n' "$name" "$(grep -E '^Total:' "$log" | tail -1 || true)"
    return
  fi
  failed=1
  printf 'FAIL  %-44s rc %s, want %s; see %s\n' "$name" "$rc" "$want" "$log"
  grep -E '✗|[Ee]rror' "$log" | head -20 || true
}

# What needs no fixtures, on a server of tools. The suite's own list of it is in no one place.
fixture_free() {
  local name=$1 scenario
  for scenario in server-initialize ping tools-list server-sse-multiple-streams server-session-lifecycle dns-rebinding-protection; do
    expect 0 "$name-2025-11-25-$scenario" "${next[@]}" --url "$url" --spec-version 2025-11-25 --scenario "$scenario" -o "$out/$name-2025-11-25"
  done
  for scenario in tools-list server-sse-multiple-streams dns-rebinding-protection http-header-validation; do
    expect 0 "$name-2026-07-28-$scenario" "${next[@]}" --url "$url" --spec-version 2026-07-28 --scenario "$scenario" -o "$out/$name-2026-07-28"
  done
  # This one has checks that need tools of certain names. Everything else in it must pass.
  expect 1 "$name-2026-07-28-server-stateless" "${next[@]}" --url "$url" --spec-version 2026-07-28 --scenario server-stateless -o "$out/$name-stateless"
  "$node" - "$out/$name-stateless" <<'JS' || failed=1
const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const root = process.argv[2];
const bad = [];
let good = 0;
for (const folder of readdirSync(root)) {
  for (const check of JSON.parse(readFileSync(join(root, folder, 'checks.json'), 'utf8'))) {
    if (check.status === 'SUCCESS') good++;
    else if (check.status === 'FAILURE') bad.push(check);
  }
}
const surprising = bad.filter((check) => !/not testable/i.test(check.errorMessage ?? ''));
for (const check of surprising) console.log(`FAIL  server-stateless ${check.id}: ${check.errorMessage}`);
console.log(`${surprising.length ? 'FAIL' : 'ok  '}  server-stateless: ${good} checks pass, ${bad.length} fail, of which ${bad.length - surprising.length} need a fixture`);
process.exit(surprising.length || bad.length !== 4 ? 1 : 0);
JS
}

npm_tools "$cache" true \
  "suite-stable@npm:@modelcontextprotocol/conformance@$stable_version" "suite-next@npm:@modelcontextprotocol/conformance@$next_version" \
  "@modelcontextprotocol/inspector@$inspector_version"
PATH=$(dirname "$node"):$PATH
stable=(node "$cache/node_modules/suite-stable/dist/index.js" server)
next=(node "$cache/node_modules/suite-next/dist/index.js" server)
rm -rf "$out"
mkdir -p "$out"
(cd "$root" && go build -o "$server" ./presets/mcp/conformance && CGO_ENABLED=0 go build -trimpath -o "$shipped" ./cmd/agentd)

say "the suite's fixtures on our HTTP front"
start fixtures "$server" fixtures
expect 0 fixtures-stable-2025-11-25 "${stable[@]}" --url "$url" --spec-version 2025-11-25 -o "$out/1"
expect 0 fixtures-next-2025-11-25 "${next[@]}" --url "$url" --requirements 2025-11-25 -o "$out/2"
expect 0 fixtures-next-2026-07-28 "${next[@]}" --url "$url" --requirements 2026-07-28 -o "$out/3"

say "the endpoint of a session, as it is: scenarios that need no fixtures"
start plain "$server" plain
fixture_free plain
stop_servers

say "agentd, as it is shipped: the same scenarios"
data=$(mktemp -d)
start agentd env AGENTD_HOME="$data" "$shipped" --workspace "$data" mcp --http 127.0.0.1:0 --anonymous
fixture_free agentd
inspector=(node "$cache/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js" --cli)
expect 0 agentd-inspector "${inspector[@]}" "$url" --transport http --method tools/list --strict
kill "$started"
ended=0
wait "$started" || ended=$?
servers=()
if [[ $ended == 0 ]]; then
  echo "ok    agentd ends when it is told to"
else
  failed=1
  echo "FAIL  agentd exited with $ended when it was told to end; see $out/server-agentd.log"
fi

say "the inspector over stdio, in three eras"
for era in legacy auto modern; do
  inspect() { # RC NAME OPTION...
    local rc=$1 name=$2
    shift 2
    expect "$rc" "inspector-$era-$name" "${inspector[@]}" "$server" stdio --protocol-era "$era" "$@"
  }
  inspect_agentd() { # NAME OPTION...
    local name=$1
    shift
    expect 0 "inspector-$era-agentd-$name" "${inspector[@]}" "$shipped" mcp -e AGENTD_HOME="$data" --protocol-era "$era" "$@"
  }
  inspect 0 list --method tools/list
  inspect 0 list-strict --method tools/list --strict
  inspect 0 call --method tools/call --tool-name space_echo --tool-arg text=hello
  inspect 5 unknown-argument --method tools/call --tool-name space_echo --tool-arg text=hello --tool-arg more=1
  inspect 5 unknown-tool --method tools/call --tool-name space_no_such --tool-arg text=hello
  inspect 5 failing-tool --method tools/call --tool-name space_fail --tool-arg text=hello
  inspect_agentd list-strict --method tools/list --strict
  inspect_agentd call --method tools/call --tool-name space_drawing_insert_shape --tool-arg shape=circle --tool-arg color=#ff0000
done

if [[ $failed != 0 ]]; then die "something failed; the logs are in $out"; fi
say "everything passes"
