#!/bin/sh
# Checks that the 22 TPC-H queries answer as DuckDB does, at scale 0.1, over tables that PyIceberg
# wrote. It times nothing. Everything it makes lies in .cache/tpch and .venv, and is made once.
#
#   bench/tpch/check.sh
#
# LHSQL_PYTHON names an interpreter that has scripts/requirements.txt already; LHSQL a built binary.
set -eu
cd "$(dirname "$0")/../.."

if [ -z "${LHSQL_PYTHON:-}" ]; then
	scripts/setup.sh
	LHSQL_PYTHON=.venv/bin/python
fi

dir=.cache/tpch
mkdir -p "$dir"
"$LHSQL_PYTHON" bench/tpch/load.py 0.1 "$dir/raw" "$dir/warehouse" >"$dir/load.log" 2>&1 || {
	cat "$dir/load.log" >&2
	exit 1
}

if [ -z "${LHSQL:-}" ]; then
	LHSQL=$dir/lhsql
	go build -o "$LHSQL" ./cmd/lhsql
fi

# A port of the kernel's choice: the server prints the address that it got.
log=$dir/serve.log
: >"$log"
"$LHSQL" serve --pg 127.0.0.1:0 --warehouse "$dir/warehouse" >"$log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true' EXIT INT TERM
dsn=
for _ in $(seq 100); do
	dsn=$(sed -n 's|.*\(postgres://[0-9.:]*\)/.*|\1|p' "$log")
	[ -n "$dsn" ] && break
	kill -0 "$server" 2>/dev/null || break
	sleep 0.1
done
[ -n "$dsn" ] || { cat "$log" >&2; exit 1; }

# Twice: the second run finds pages in the cache.
for _ in 1 2; do
	"$LHSQL_PYTHON" bench/tpch/compare.py "$dir/warehouse" "$dsn/lake?user=lake" --answers
done
