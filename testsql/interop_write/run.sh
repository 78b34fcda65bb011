#!/bin/sh
# Builds lhsql, has it write tables of every shape, and has PyIceberg and DuckDB read them and
# write in between, and look for what was erased; with --spark Spark as well (pyspark 3.5, and its Iceberg runtime in ~/.m2).
set -e
cd "$(dirname "$0")/../.."
if ! .venv/interop_write/bin/python -c 'import fastavro' 2> /dev/null; then
    python3 -m venv .venv/interop_write
    .venv/interop_write/bin/pip install -q -r testsql/interop_write/requirements.txt
fi
if [ "$1" = --spark ]; then
    .venv/interop_write/bin/pip install -q pyspark==3.5.6
    mvn -q -B dependency:get -Dartifact=org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.0
    mvn -q -B dependency:get -Dartifact=org.xerial:sqlite-jdbc:3.46.1.3
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/lhsql" ./cmd/lhsql
.venv/interop_write/bin/python testsql/interop_write/check.py "$dir/lhsql" "$dir/lake" "$@"
.venv/interop_write/bin/python testsql/interop_write/erased.py "$dir/lhsql" "$dir/erased" "$@"
