#!/bin/sh
# Loads the flights into .cache/flights by PyIceberg and compares time travel with its answers.
set -e
cd "$(dirname "$0")/../.."
if [ ! -x .venv/interop/bin/python ]; then
    python3 -m venv .venv/interop
    .venv/interop/bin/pip install -q -r testsql/interop/requirements.txt
fi
.venv/interop/bin/python testsql/interop/flights.py .cache/flights
go test -count=1 -run TestFlights ./testsql/interop
