#!/usr/bin/env bash
# Runs every fuzz target of the module for the given time each (10s unless told).
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do
  package=./$(dirname "${file#./}")
  for target in $(grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | cut -d' ' -f2); do
    echo "fuzz: $package $target"
    go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "$time" </dev/null
  done
done
