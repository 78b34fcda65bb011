#!/bin/bash
# Runs lhsql on real servers: the Iceberg project's REST catalog (Java, from Maven), and a SQL
# catalog on PostgreSQL, both with their objects in versitygw, an S3 server. PyIceberg opens the
# same catalogs, reads what lhsql wrote and writes in between. All on loopback, all ended at exit.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=$PWD/.cache/catalogs dir=$(mktemp -d)
pids=()
finish() {
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
	[ -d "$dir/pg" ] && as_postgres "$bin/pg_ctl -D $dir/pg -m immediate stop" >/dev/null 2>&1
	rm -rf "$dir"
}
trap finish EXIT
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
as_postgres() { if [ "$(id -u)" = 0 ]; then su postgres -c "$1"; else sh -c "$1"; fi; }
wait_for() { # wait_for WORD COMMAND…: until the command succeeds
	local what=$1; shift
	for _ in $(seq 150); do "$@" >/dev/null 2>&1 && return; sleep 0.2; done
	echo "$what did not come up" >&2; cat "$dir"/*.log >&2; exit 1
}
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

mkdir -p "$cache"
if [ ! -x "$cache/python/bin/python" ]; then
	python3 -m venv "$cache/python"
	"$cache/python/bin/pip" install -q 'pyiceberg[pyarrow,sql-postgres,pyiceberg-core]==0.12.0' pyarrow==26.0.1 numpy==2.4.6
fi
[ -x "$cache/versitygw" ] || GOBIN=$cache go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
if [ ! -f "$cache/classpath" ]; then
	mvn -q -B -f testsql/catalogs/pom.xml dependency:build-classpath -Dmdep.outputFile="$cache/classpath"
fi
javac -d "$cache" -cp "$(cat "$cache/classpath")" testsql/catalogs/CatalogServer.java
go build -o "$dir/lhsql" ./cmd/lhsql

export AWS_ACCESS_KEY_ID=lhsql-key AWS_SECRET_ACCESS_KEY=lhsql-secret AWS_REGION=us-east-1
s3=$(port) rest=$(port) pg=$(port)
mkdir -p "$dir/objects/lake"
"$cache/versitygw" --port "127.0.0.1:$s3" --access "$AWS_ACCESS_KEY_ID" --secret "$AWS_SECRET_ACCESS_KEY" posix "$dir/objects" >"$dir/s3.log" 2>&1 &
pids+=($!)
java -Xmx512m -cp "$cache:$(cat "$cache/classpath")" CatalogServer "$rest" catalog-impl=org.apache.iceberg.jdbc.JdbcCatalog \
	"uri=jdbc:sqlite:$dir/rest.db" jdbc.schema-version=V1 warehouse=s3://lake/rest io-impl=org.apache.iceberg.aws.s3.S3FileIO \
	"s3.endpoint=http://127.0.0.1:$s3" s3.path-style-access=true >"$dir/rest.log" 2>&1 &
pids+=($!)
chmod 777 "$dir"
as_postgres "$bin/initdb -A trust -D $dir/pg" >/dev/null
as_postgres "$bin/pg_ctl -w -D $dir/pg -o '-p $pg -c listen_addresses=127.0.0.1 -c unix_socket_directories=$dir' -l $dir/pg.log start" >/dev/null
wait_for "the REST catalog" curl -sf "http://127.0.0.1:$rest/v1/config"

"$cache/python/bin/python" testsql/catalogs/check.py "$dir/lhsql" \
	"{\"type\": \"rest\", \"uri\": \"http://127.0.0.1:$rest\", \"credential\": \"lhsql:secret\"}" \
	"{\"type\": \"sql\", \"uri\": \"postgresql://postgres@127.0.0.1:$pg/postgres\", \"warehouse\": \"s3://lake/sql\"}" \
	"http://127.0.0.1:$s3"
