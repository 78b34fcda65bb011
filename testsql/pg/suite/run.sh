#!/usr/bin/env bash
# Asks lhsql and a PostgreSQL 15 of this machine the statements of PostgreSQL's regression suite and
# prints what agrees by topic:
#
#	testsql/pg/suite/run.sh [OPTION …]
#
# The options are suite.py's (--topics a,b, --verbose, --floor N). The suite is fetched from Debian's
# sources at a pinned version and kept in the cache's folder; SUITE names a src/test/regress that is
# here already. LHSQL names a binary that is built already.
set -euo pipefail
cd "$(dirname "$0")/../../.."
version=15.18
sum=11df0df97fe3ea4ba9a791faaf39cee1d2fe571e78885b5b55d8517d27c323b4
if [ -z "${SUITE:-}" ]; then
	cache="${XDG_CACHE_HOME:-$HOME/.cache}/lhsql-suite"
	SUITE="$cache/postgresql-$version/src/test/regress"
	if [ ! -d "$SUITE" ]; then
		mkdir -p "$cache"
		archive="$cache/postgresql-$version.tar.bz2"
		for mirror in $(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | sort -u); do # those that apt knows
			curl -fsS -m 300 -o "$archive" "${mirror%/}/pool/main/p/postgresql-15/postgresql-15_$version.orig.tar.bz2" && break
		done
		echo "$sum  $archive" | sha256sum --check --quiet
		tar -C "$cache" -xjf "$archive" "postgresql-$version/src/test/regress"
		rm "$archive"
	fi
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if [ -z "${LHSQL:-}" ]; then
	LHSQL="$dir/lhsql"
	go build -o "$LHSQL" ./cmd/lhsql
fi
python3 testsql/pg/suite/suite.py --lhsql "$LHSQL" --suite "$SUITE" "$@"
