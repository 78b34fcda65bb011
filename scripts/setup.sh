#!/usr/bin/env bash
# Installs what the interop tests use, at pinned versions, into .venv of this folder. Does
# nothing where it is there already.
set -euo pipefail
cd "$(dirname "$0")/.."
want=$(cat scripts/requirements.txt scripts/constraints.txt | sha256sum | cut -c1-16)
if [ "$(cat .venv/lhsql-requirements 2>/dev/null)" = "$want" ]; then
	exit 0
fi
python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check -r scripts/requirements.txt
echo "$want" > .venv/lhsql-requirements
