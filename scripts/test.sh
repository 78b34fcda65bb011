#!/usr/bin/env bash
# Runs all tests. The Go tests need Go and a C compiler alone; with python3 and psql here the
# interop suites run too. Where CI is set, a missing tool is an error instead of a skip.
set -euo pipefail
cd "$(dirname "$0")/.."
step() { printf '\n== %s\n' "$*"; }
need() { # need WORD COMMAND: whether a tool is here
	command -v "$2" >/dev/null && return 0
	if [ -n "${CI:-}" ]; then
		echo "$1 needs $2, which is not installed" >&2
		exit 1
	fi
	echo "skipped: $1 needs $2"
	return 1
}

step formatting and vet
test -z "$(gofmt -l $(git ls-files '*.go') | tee /dev/stderr)"
go vet ./...

if need "interop" python3; then
	step tools
	scripts/setup.sh
	export LHSQL_PYTHON="$PWD/.venv/bin/python"
fi

step go test
go test -tags invariants -timeout 20m ./...

if [ -n "${LHSQL_PYTHON:-}" ]; then
	step TPC-H answers beside DuckDB
	bench/tpch/check.sh
fi
if [ -n "${LHSQL_PYTHON:-}" ] && need "the clients' scorecard" psql; then
	step clients
	testsql/clients/run.sh
fi
step fuzzing, briefly
scripts/fuzz.sh 5s
