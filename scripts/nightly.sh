#!/usr/bin/env bash
# What is long or random, for a night: other seeds each time, larger counts, the race detector, fuzzing.
# What fails prints its seed; LHSQL_SEED=… repeats it. scripts/nightly.sh [STEP …] runs some steps only.
set -uo pipefail
cd "$(dirname "$0")/.."
export LHSQL_SEED="${LHSQL_SEED:-clock}"
scripts/setup.sh
export LHSQL_PYTHON="$PWD/.venv/bin/python"
status=0
wanted=("$@")
step() { # step NAME COMMAND …
	local name=$1
	shift
	if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then
		return
	fi
	printf '\n== %s: %s\n' "$name" "$*"
	"$@" || { status=1; echo "FAILED: $name"; }
}
check() { go test -tags invariants -count 1 -timeout 12h "$@"; }

step damage check ./testsql/limits -run TestDamagedFiles -damage.count 100000
step mutations env LHSQL_MUTATIONS=50000 go test -tags invariants -count 1 -timeout 12h ./testsql ./testsql/limits -run Mutation
step pruning check ./testsql/interop -run TestPruning -prune-tables 5000
step interleavings check ./testsql/write -run TestInterleavings -interleave.cases 1000
step compaction check ./testsql/write -run TestInterleavings -interleave.with=compact -interleave.cases=400
step folding check ./testsql/write -run TestInterleavings -interleave.with=fold -interleave.cases=400
step rewrites check ./maintain -run TestRewriteHistories -rewrite.histories=500
step kept check ./maintain -run TestKeptHistories -kept.histories=5000
step deaths check ./maintain -run TestDeathAtEachStep -kept.every=1
step expiry go test ./maintain -run XXX -bench Expire -benchtime 1x -keep.snapshots 5000 -timeout 2h
step histories check ./testsql/write -run Histor -history.runs 5000 -history.len 60
step kills check ./testsql/write -run Killed -kill.cycles 2000
step postgresql check ./testsql/interop/pg_diff -args -queries 200000 -every-cell
if [ -x /usr/lib/postgresql/15/bin/initdb ]; then # the judge
	step topics testsql/pg/suite/run.sh --floor 6300
fi
if [ -n "${MARIADB:-}" ]; then # host:port of a server that root may use without a password
	step mysql testsql/mysql/suite/run.sh
	step parameters testsql/mysql/suite/run.sh -generated 50000 -seed "$RANDOM" -differ 0
fi
if command -v mvn > /dev/null && command -v javac > /dev/null; then
	step maintained testsql/interop_write/maintained.sh --seed "$RANDOM" --rounds 60
fi
step contention check ./testsql/write -run TestContention -v -contention.time=8s -contention.pause=5ms -contention.others=true
step random check ./exec ./eval ./types ./prune ./planner ./scan/... -count 20
step race go test -race -timeout 12h ./exec ./scan/... ./lake/... ./engine/... ./wire/...
step fuzz env FUZZ_WORKERS=2 scripts/fuzz.sh 2m
exit $status
