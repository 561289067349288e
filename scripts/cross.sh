#!/usr/bin/env bash
# Builds everything, tests included, for each supported system; nothing is run.
set -euo pipefail
cd "$(dirname "$0")/.."
for target in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do
  os=${target%/*} arch=${target#*/}
  echo "cross: $target"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build ./...
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go vet ./...
done
