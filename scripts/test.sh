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
# While the next step waits for downloads.
lint=$(mktemp)
scripts/lint.sh >"$lint" 2>&1 &
linting=$!

if need "interop" python3; then
	step tools
	scripts/setup.sh
	export LHSQL_PYTHON="$PWD/.venv/bin/python"
fi

step staticcheck and deadcode
wait $linting || { cat "$lint" >&2; exit 1; }

step go test
go test -tags invariants -timeout 20m ./...

if [ -n "${LHSQL_PYTHON:-}" ]; then
	step "TPC-H: the 22 answers beside DuckDB"
	bench/tpch/check.sh
	step "time travel over the flights beside PyIceberg"
	testsql/interop/flights.sh
	step "our tables read and written by PyIceberg and DuckDB"
	testsql/interop_write/run.sh
	step "MySQL: the statements of another engine's suite"
	testsql/mysql/suite/run.sh --quick
	clients=true
	for tool in psql pgbench openssl java mvn node npm mariadb; do
		need "the clients' scorecard" "$tool" || clients=false
	done
	if $clients; then
		# Without the terminal's checks, whose keys another load upsets, the catalogs of 5,000 tables
		# and the 10 M rows.
		step "the clients' scorecard"
		python3 testsql/clients/run.py --without 46,46.2,62,63 --retries 1
	fi
fi

# The targets' seeds and findings so far ran as tests above. What new random inputs find is news,
# not a regression: it is shown, and does not fail the run.
step "fuzzing, briefly"
timeout 300 scripts/fuzz.sh "${FUZZ_TIME:-3s}" || echo "fuzzing found something or ran out of time: see above"
