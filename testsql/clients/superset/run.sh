#!/usr/bin/env bash
# Runs Apache Superset (from PyPI, metadata in SQLite) over the demo of lhsql and checks what it
# shows: see check.py. Needs python3, Go (or a binary as $1), and for the
# drawing Debian's chromium and chromium-driver. Screenshots go to $2 (a temporary folder).
#   testsql/clients/superset/run.sh [BINARY] [FOLDER]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); root=$(cd "$here/../../.." && pwd)
tmp=$(mktemp -d); shots=${2:-$tmp}; binary=${1:-$tmp/lhsql}
venv="$root/.cache/superset"
cleanup() { for p in ${pids:-}; do kill "$p" 2>/dev/null || true; done; wait; rm -rf "$tmp"; }
trap cleanup EXIT
[ -n "${1:-}" ] || (cd "$root" && go build -o "$binary" ./cmd/lhsql)
if ! cmp -s "$here/requirements.txt" "$venv/stamp"; then
	python3 -m venv --clear "$venv"
	"$venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
	cp "$here/requirements.txt" "$venv/stamp"
fi
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
pg=$(port); mysql=$(port); web=$(port)
"$binary" demo --warehouse "$tmp/lakehouse" --pg "127.0.0.1:$pg" --mysql "127.0.0.1:$mysql" >"$tmp/lhsql.log" 2>&1 & pids=$!
export SUPERSET_HOME="$tmp" SUPERSET_CONFIG_PATH="$here/superset_config.py" FLASK_APP=superset
"$venv/bin/superset" db upgrade >"$tmp/upgrade.log" 2>&1
"$venv/bin/superset" fab create-admin --username admin --firstname A --lastname B --email admin@localhost --password admin >"$tmp/admin.log" 2>&1
"$venv/bin/superset" init >"$tmp/init.log" 2>&1
"$venv/bin/superset" run -h 127.0.0.1 -p "$web" --with-threads >"$tmp/superset.log" 2>&1 & pids="$pids $!"
for _ in $(seq 120); do curl -sf "http://127.0.0.1:$web/health" >/dev/null && break; sleep 1; done
"$venv/bin/python" "$here/check.py" "http://127.0.0.1:$web" "$pg" "$mysql" "$shots" || { tail -40 "$tmp/superset.log"; exit 1; }
