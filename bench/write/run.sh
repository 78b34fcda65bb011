#!/bin/sh
# Measures writing beside Spark: run.sh DIR [options of run.py]. DIR keeps the source (made once,
# 700 MB) and receives what is written; Python packages go to .venv/bench_write, Spark's Iceberg
# runtime to ~/.m2. Needs Java 17 and Maven, and the option --no-spark needs neither. --duckdb adds
# DuckDB, which writes through the Iceberg project's REST catalog (Java, testsql/catalogs).
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
*) mvn -q -B dependency:get -Dartifact=org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.0 ;;
esac
case " $* " in
*" --duckdb "*)
    cache=$PWD/.cache/catalogs
    mkdir -p "$cache"
    [ -f "$cache/classpath" ] || mvn -q -B -f testsql/catalogs/pom.xml dependency:build-classpath -Dmdep.outputFile="$cache/classpath"
    javac -d "$cache" -cp "$(cat "$cache/classpath")" testsql/catalogs/CatalogServer.java
    export DUCKDB_CATALOG="$cache:$(cat "$cache/classpath")"
    ;;
esac
go build -o "$dir/lhsql" ./cmd/lhsql
[ -f "$dir/source/catalog.db" ] || .venv/bench_write/bin/python bench/write/load.py "$dir/raw" "$dir/source"
.venv/bench_write/bin/python bench/write/run.py "$dir/lhsql" "$dir/source" "$dir/run" "$@"
