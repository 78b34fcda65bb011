#!/bin/sh
# Builds lhsql and has it maintain tables in turns with Spark, read by PyIceberg, DuckDB and Spark, and beside
# PyIceberg and Spark as writers, over the Iceberg project's REST catalog: maintained.sh [options of maintained.py].
# Needs Java 17 and Maven; packages go to .venv/interop_write and ~/.m2, the catalog to .cache/catalogs.
set -e
cd "$(dirname "$0")/../.."
if ! .venv/interop_write/bin/python -c 'import fastavro, pyspark' 2> /dev/null; then
    [ -x .venv/interop_write/bin/python ] || python3 -m venv .venv/interop_write
    .venv/interop_write/bin/pip install -q -r testsql/interop_write/requirements.txt pyspark==3.5.6
fi
mvn -q -B dependency:get -Dartifact=org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.0
cache=$PWD/.cache/catalogs
mkdir -p "$cache"
[ -f "$cache/classpath" ] || mvn -q -B -f testsql/catalogs/pom.xml dependency:build-classpath -Dmdep.outputFile="$cache/classpath"
javac -d "$cache" -cp "$(cat "$cache/classpath")" testsql/catalogs/CatalogServer.java
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/lhsql" ./cmd/lhsql
.venv/interop_write/bin/python testsql/interop_write/maintained.py "$dir/lhsql" "$dir/lake" "$cache:$(cat "$cache/classpath")" "$@"
