#!/usr/bin/env bash
# Times skilltrace on a generated session against named peers in the same run, as
# figures of one machine and one moment mean little: a Go program that decodes
# each line with encoding/json, and jq where it is installed. Everything runs on
# one core; the best of RUNS counts.
#
#   bench/observe.sh [BYTES]      size of the session, default 200000000
#
#   RUNS=5   how often each command runs (default 3)
#   PROCS=2  cores that Go programs may use (default 1)
#   COMMANDS="sessions replay"  what is timed (default: sessions timeline replay)
#
# Peak memory is that of GNU time, where it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
size=${1:-200000000}
runs=${RUNS:-3}
export GOMAXPROCS=${PROCS:-1}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for program in cmd/skilltrace bench/gen bench/peer; do
  CGO_ENABLED=0 go build -trimpath -o "$dir/${program##*/}" "./$program"
done
log=$("$dir/gen" "$dir/logs" "$size")
mapfile -t logs < <(find "$dir/logs" -name '*.jsonl' | sort)
bytes=$(cat "${logs[@]}" | wc -c) # and all of it is in memory now
echo "a session of $bytes bytes in ${#logs[@]} logs; $runs runs on $GOMAXPROCS core(s)"

gnutime=
if [ -x /usr/bin/time ] && /usr/bin/time -f %M true 2>/dev/null; then gnutime=/usr/bin/time; fi

# once COMMAND… prints wall seconds, CPU seconds and peak kilobytes (0: unknown).
# Exit status 1 of skilltrace means findings.
once() {
  local status=0
  if [ -n "$gnutime" ]; then
    "$gnutime" -q -f '%e %U %S %M' -o "$dir/time" "$@" >/dev/null 2>"$dir/err" || status=$?
  else
    TIMEFORMAT='%R %U %S 0'
    { time "$@" >/dev/null 2>"$dir/err" || status=$?; } 2>"$dir/time"
  fi
  if [ "$status" -gt 1 ]; then
    echo "exit status $status of $*:" >&2
    cat "$dir/err" >&2
    return 1
  fi
  awk '{ print $1, $2 + $3, $4 }' "$dir/time"
}

# best COMMAND… is the best of all runs, by CPU time, with the greatest memory.
best() {
  for _ in $(seq "$runs"); do once "$@" || return 1; done |
    sort -k2,2n | awk 'NR == 1 { wall = $1; cpu = $2 } $3 > peak { peak = $3 } END { print wall, cpu, peak }'
}

base=
row() {
  local name=$1 result
  shift
  result=$(best "$@")
  if [ -z "$base" ]; then base=${result#* } base=${base% *}; fi
  awk -v name="$name" -v bytes="$bytes" -v base="$base" '{
    cpu = ($2 > 0 ? $2 : 0.01)
    peak = ($3 > 0 ? sprintf("%.0f", $3 / 1024) : "-")
    printf "%-28s %8.2f %8.2f %9.0f %8.2fx %9s\n", name, $1, $2, bytes / 1e6 / cpu, base / cpu, peak
  }' <<<"$result"
}

printf '%-28s %8s %8s %9s %9s %9s\n' command 'wall s' 'CPU s' 'MB/CPU s' speed 'peak MiB'
row 'peer: encoding/json' "$dir/peer" "${logs[@]}"
if command -v jq >/dev/null; then row "peer: jq -c .type ($(jq --version))" jq -c .type "${logs[@]}"; fi
for command in ${COMMANDS:-sessions timeline replay}; do
  args=()
  if [ "$command" = why ]; then args=(skill-15); fi # one that the session lists and calls
  row "skilltrace $command" "$dir/skilltrace" "$command" "${args[@]}" "$log"
  if [ "$command" = replay ]; then row 'skilltrace replay to JSON' "$dir/skilltrace" replay --format json "$log"; fi
done
