#!/bin/sh
# Runs every fuzz target of the tree for a while each: scripts/fuzz.sh [TIME], 10s by default.
# The targets are found, so that a new one cannot be forgotten.
set -eu
cd "$(dirname "$0")/.."
time=${1:-10s}
status=0
grep -rn --include='*_test.go' '^func Fuzz' . | sed 's/^\.\/\(.*\)\/[^/]*:[0-9]*:func \(Fuzz[A-Za-z0-9_]*\).*/\1 \2/' | sort |
while read -r dir target; do
	echo "== $dir $target"
	go test -tags invariants -run '^$' -fuzz "^$target\$" -fuzztime "$time" -parallel "${FUZZ_WORKERS:-2}" "./$dir" || exit 1
done || status=1
exit $status
