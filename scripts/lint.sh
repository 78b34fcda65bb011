#!/usr/bin/env bash
# Runs staticcheck, and deadcode over the programs and tests: what nothing reaches goes. Both are
# installed as Go tools, at pinned versions, into .cache/tools.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$PWD/.cache/tools
install() { # install NAME PACKAGE@VERSION
	local mark=$tools/$1-${2##*@}-$(go env GOVERSION)
	[ -e "$mark" ] && return
	GOBIN=$tools go install "$2"
	rm -f "$tools/$1"-* && touch "$mark"
}
mkdir -p "$tools"
install staticcheck honnef.co/go/tools/cmd/staticcheck@v0.8.2
install deadcode golang.org/x/tools/cmd/deadcode@v0.48.0
"$tools/staticcheck" -tags invariants ./...
dead=$("$tools/deadcode" -test -tags invariants ./...)
if [ -n "$dead" ]; then
	echo "$dead" >&2
	exit 1
fi
