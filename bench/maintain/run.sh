#!/bin/sh
# Measures compaction beside Spark: run.sh DIR [options of run.py]. DIR keeps the source (TPC-H's
# lineitem, 400 MB) and receives the tables; Python packages go to .venv/bench_write, Spark's Iceberg
# runtime and SQLite's driver to ~/.m2. Needs Java 17 and Maven; the option --no-spark needs neither.
set -e
cd "$(dirname "$0")/../.."
dir=$(mkdir -p "$1" && cd "$1" && pwd)
shift
if [ ! -x .venv/bench_write/bin/python ]; then
    python3 -m venv .venv/bench_write
    .venv/bench_write/bin/pip install -q -r bench/write/requirements.txt
fi
case " $* " in
*" --no-spark "*) ;;
*)
    mvn -q -B dependency:get -Dartifact=org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.0
    mvn -q -B dependency:get -Dartifact=org.xerial:sqlite-jdbc:3.46.1.3
    ;;
esac
go build -o "$dir/lhsql" ./cmd/lhsql
if [ ! -f "$dir/raw/lineitem.parquet" ]; then
    mkdir -p "$dir/raw"
    .venv/bench_write/bin/tpchgen-cli parquet -s 1.67 --tables lineitem --output-dir "$dir/raw"
fi
.venv/bench_write/bin/python bench/maintain/run.py "$dir/lhsql" "$dir/raw/lineitem.parquet" "$dir/run" "$@"
