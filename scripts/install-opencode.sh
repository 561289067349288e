#!/bin/sh
# Installs one version of OpenCode from npm into a folder of its own and prints the path of its executable, the one
# without a wrapper around it.
#
#   scripts/install-opencode.sh VERSION DIR
set -eu
if [ $# -ne 2 ]; then
	echo "usage: $0 VERSION DIR" >&2
	exit 2
fi
version=$1
dir=$2
npm install --prefix "$dir" --no-fund --no-audit --loglevel=error "opencode-ai@$version" >&2

case $(uname -s) in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) system=windows ;;
esac
case $(uname -m) in
arm64 | aarch64) machine=arm64 ;;
*) machine=x64 ;;
esac
# npm chooses among the builds by processor and libc; more than one may be there, and each is tried.
for build in "opencode-$system-$machine" "opencode-$system-$machine-baseline" \
	"opencode-$system-$machine-musl" "opencode-$system-$machine-baseline-musl"; do
	for name in opencode opencode.exe; do
		binary=$dir/node_modules/$build/bin/$name
		if [ -x "$binary" ] && [ "$(HOME=$dir "$binary" --version 2>/dev/null)" = "$version" ]; then
			echo "$binary"
			exit 0
		fi
	done
done
echo "$0: no executable of OpenCode $version for $system-$machine runs here" >&2
exit 1
