#!/usr/bin/env bash
# Runs the suite on a server of lhsql that it starts for it, and prints the scorecard:
#
#	testsql/mysql/suite/run.sh [--quick] [OPTION …]
#
# The options are the program's (main.go); MARIADB names a MariaDB that judges, as host:port. --quick
# runs the topics that need no setup with keys, and fails if fewer statements agree than did.
set -euo pipefail
cd "$(dirname "$0")/../../.."
options=("$@")
if [ "${1:-}" = --quick ]; then
	options=(-topics "queries,keyless tables,date parsing,joins,ranges,conversions,BLOB reads,BLOB writes,DELETE,generated columns" -floor "${FLOOR:-2799}" "${@:2}")
fi
dir=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server"; wait "$server" || true; fi; rm -rf "$dir"' EXIT
go build -o "$dir/lhsql" ./cmd/lhsql
(cd testsql/mysql/suite && go build -o "$dir/suite" .)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$dir/lhsql" serve --warehouse "$dir/warehouse" --pg off --mysql "127.0.0.1:$port" >"$dir/log" 2>&1 &
server=$!
for _ in $(seq 100); do
	if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
	sleep 0.1
done
"$dir/suite" -lhsql "127.0.0.1:$port" ${MARIADB:+-mariadb "$MARIADB"} "${options[@]}"
