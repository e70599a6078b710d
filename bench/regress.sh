#!/usr/bin/env bash
# Times skilltrace test on generated sessions: 1,000 cases over 50 sessions, each with 40
# skills listed. The candidates have other descriptions, twice as long as there is room
# for, so that each case has skills that lost theirs, and asks why. Beside it, in the
# same run, a Go program that only decodes each line of these logs with encoding/json, as
# seconds of one machine and one moment mean little. Aim: under 10 seconds on two cores.
#
#   bench/regress.sh [BYTES]      size of each session, default 1000000
#
#   RUNS=5  how often each runs (default 3; the best counts)
#   PROCS=1 cores that Go programs may use (default 2)
set -euo pipefail
cd "$(dirname "$0")/.."
size=${1:-1000000}
runs=${RUNS:-3}
export GOMAXPROCS=${PROCS:-2}
sessions=50
each=20
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for program in cmd/skilltrace bench/gen bench/peer; do
  CGO_ENABLED=0 go build -trimpath -o "$dir/${program##*/}" "./$program"
done
log=$("$dir/gen" "$dir/one" "$size")
prompts=$(grep -c '"promptSource":"typed"' "$log")
mkdir -p "$dir/testdata"
logs=()
for n in $(seq "$sessions"); do
  cp "$log" "$dir/testdata/$n.jsonl"
  if [ -d "${log%.jsonl}" ]; then cp -r "${log%.jsonl}" "$dir/testdata/$n"; fi
done
mapfile -t logs < <(find "$dir/testdata" -name '*.jsonl' | sort)
words=(function module test order basket price cache index parser record client server field user session file folder branch commit handler)
for i in $(seq 0 39); do
  mkdir -p "$dir/skills/skill-$i"
  word=${words[$((i % 20))]}
  {
    printf -- '---\ndescription: Does part %d of the work. Use it for the %s.' "$i" "$word"
    for _ in $(seq $((i % 20))); do printf ' Also for what the %s needs.' "$word"; done
    printf '\n---\n'
  } >"$dir/skills/skill-$i/SKILL.md"
done
{
  printf 'version: 1\nskills: [skills]\ncases:\n'
  for n in $(seq "$sessions"); do
    for k in $(seq "$each"); do
      printf '  - {name: session %d case %d, session: testdata/%d.jsonl, at: {prompt: %d}, expect: {visible: {skill-%d: full}, triggers: skill-%d, rank: {skill-%d: 40}}}\n' \
        "$n" "$k" "$n" $(((k - 1) % prompts + 1)) "$k" "$k" "$k"
    done
  done
} >"$dir/skilltrace.test.yaml"
bytes=$(cat "${logs[@]}" | wc -c)
echo "$((sessions * each)) cases over $sessions sessions with $prompts prompts each, $bytes bytes; best of $runs runs on $GOMAXPROCS core(s)"

# best COMMAND… prints the wall and CPU seconds of the run that took least. Status 1 of
# skilltrace means that cases failed.
best() {
  local status TIMEFORMAT='%R %U %S'
  for _ in $(seq "$runs"); do
    status=0
    { time "$@" >"$dir/out" 2>"$dir/err" || status=$?; } 2>"$dir/time"
    if [ "$status" -gt 1 ]; then
      echo "exit status $status of $*:" >&2
      cat "$dir/err" >&2
      return 1
    fi
    awk '{ print $1, $2 + $3 }' "$dir/time"
  done | sort -n | head -n 1
}

row() {
  local name=$1 result
  shift
  result=$(best "$@")
  awk -v name="$name" -v n="$((sessions * each))" '{ printf "%-28s %8.2f %8.2f %9.0f\n", name, $1, $2, n / $1 }' <<<"$result"
}
printf '%-28s %8s %8s %9s\n' command 'wall s' 'CPU s' 'cases/s'
row 'peer: encoding/json' "$dir/peer" "${logs[@]}"
row 'skilltrace test' "$dir/skilltrace" test "$dir/skilltrace.test.yaml" --quiet
tail -n 3 "$dir/out"
