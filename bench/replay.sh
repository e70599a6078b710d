#!/usr/bin/env bash
# Times the whole of skilltrace replay on a generated session, beside the peers of
# bench/observe.sh in the same run: reading, observing, predicting, comparing, charging
# tokens and writing the screen; and skilltrace why on it, whose aim is a second for
# 100 MB. Then the prediction of a listing of 10,000 skills.
# Everything runs on one core. Aims: 150 MB of log per second, and 50 ms for a listing.
#
#   bench/replay.sh [BYTES]      size of the session, default 200000000
#
# RUNS and PROCS are those of bench/observe.sh. On a machine that others use, the CPU
# figures say more than the wall.
set -euo pipefail
cd "$(dirname "$0")/.."
COMMANDS="replay why" bench/observe.sh "$@"
GOMAXPROCS=${PROCS:-1} go test ./replay -run '^$' -bench '^BenchmarkListing$' -benchtime 30x -count "${RUNS:-3}"
