#!/usr/bin/env bash
# Compares the totals of tokens and money with those of ccusage, a program that
# counts them too, on generated logs, each folder with one question, and on a folder
# of real ones, log by log. Where the two are known to differ, the reason is shown,
# and docs/cost-vs-ccusage.md says more; any other difference is a failure.
#
#   bench/compare-ccusage.sh [FOLDER]    real logs: default $SKILLTRACE_SHARED/corpus or
#                                        ../shared/corpus, where it exists
#
#   CCUSAGE="npx -y ccusage@20"   how ccusage is run (default: ccusage of PATH, else npx
#                                 where the package is installed)
#   KEEP=1                        leaves the generated logs in place, and says where
#
# Exit status 0: as expected, or ccusage is absent; 1: a difference without a reason,
# or a reason without a difference.
set -euo pipefail
corpus=${1:+$(realpath -- "$1")}
cd "$(dirname "$0")/.."
corpus=${corpus:-${SKILLTRACE_SHARED:-../shared}/corpus}

if [ -n "${CCUSAGE:-}" ]; then
  read -ra ccusage <<<"$CCUSAGE"
elif command -v ccusage >/dev/null; then
  ccusage=(ccusage)
elif command -v npx >/dev/null && npx --no-install ccusage --version >/dev/null 2>&1; then
  ccusage=(npx --no-install ccusage)
else
  echo "skipped: no ccusage (npm install -g ccusage, or CCUSAGE='npx -y ccusage')" >&2
  exit 0
fi
if ! command -v jq >/dev/null; then
  echo "skipped: no jq" >&2
  exit 0
fi
if ! version=$("${ccusage[@]}" --version 2>&1); then
  echo "skipped: ${ccusage[*]} does not run: $version" >&2
  exit 0
fi

dir=$(mktemp -d)
if [ -n "${KEEP:-}" ]; then echo "logs: $dir"; else trap 'rm -rf "$dir"' EXIT; fi
for program in cmd/skilltrace bench/gen; do
  CGO_ENABLED=0 go build -trimpath -o "$dir/${program##*/}" "./$program"
done
"$dir/gen" "$dir/bills" bills >"$dir/list"

# ours FOLDER and theirs FOLDER print input, cache writes, cache reads, output and
# micro-dollars of a configuration folder.
ours() {
  "$dir/skilltrace" cost --config-dir "$1" --format json --quiet |
    jq -r '[.usage.input, .usage.cache_write_5m + .usage.cache_write_1h, .usage.cache_read, .usage.output, ([.layers[].cost_microusd] | add // 0)] | @tsv'
}
theirs() {
  CLAUDE_CONFIG_DIR=$1 "${ccusage[@]}" claude session --json --offline --mode calculate --timezone UTC |
    jq -r 'if has("totals") then .totals else {} end | [.inputTokens // 0, .cacheCreationTokens // 0, .cacheReadTokens // 0, .outputTokens // 0, ((.totalCost // 0) * 1e6)] | @tsv'
}

failed=0
compared=0
# compare NAME FOLDER [REASON] prints a row. Money is the same within half a
# micro-dollar: ours is rounded once.
compare() {
  local name=$1 reason=${3:-} a b
  a=$(ours "$2")
  b=$(theirs "$2")
  compared=$((compared + 1))
  if ! awk -F'\t' -v name="$name" -v reason="$reason" '
    NR == 1 { for (i = 1; i <= 5; i++) a[i] = $i }
    NR == 2 {
      for (i = 1; i <= 4; i++) { ours += a[i]; theirs += $i; if (a[i] != $i) tokens = 1 }
      money = a[5] - $5 > 0.51 || $5 - a[5] > 0.51
      what = tokens && money ? "tokens, money" : tokens ? "tokens" : money ? "money" : "equal"
      bad = (what == "equal") != (reason == "")
      printf "%-28s %13d %13d %15.6f %15.6f  %s%s\n", name, ours, theirs, a[5] / 1e6, $5 / 1e6, what, bad ? "  UNEXPECTED" : ""
      if (reason != "") printf "%28s %s\n", "", reason
      exit bad
    }' <<<"$a"$'\n'"$b"; then
    failed=1
  fi
}

echo "skilltrace cost beside $version; prices of $(jq -r .as_of budget/prices.json)"
printf '%-28s %13s %13s %15s %15s\n' question 'our tokens' 'its tokens' 'our dollars' 'its dollars'
while IFS=$'\t' read -r folder _ reason; do
  compare "${folder##*/}" "$folder" "$reason"
done <"$dir/list"

# known NAME is why the two differ on a log of the corpus.
known() {
  case $1 in
  iansherr__claude-code-log/test/test_data/sidechain.jsonl) echo 'timestamps with microseconds: ccusage passes over the rows' ;;
  jazzyalex__agent-sessions/*/small.jsonl) echo 'inference in the US: ccusage leaves the tenth out' ;;
  thejamesnick__agentic-wallet/*) echo 'a model that has no price here; its tokens count' ;;
  esac
}

if [ -d "$corpus" ]; then
  echo
  n=0
  differ=
  while IFS= read -r log; do
    n=$((n + 1))
    # Both want logs below projects/. A subagent's log keeps its name.
    case ${log##*/} in agent-*) to=${log##*/} ;; *) to=$(printf '%08d-0000-4000-8000-000000000000.jsonl' "$n") ;; esac
    mkdir -p "$dir/one/$n/projects/p" "$dir/all/projects/p$n"
    cp "$log" "$dir/one/$n/projects/p/$to"
    cp "$log" "$dir/all/projects/p$n/$to"
    name=${log#"$corpus"/}
    reason=$(known "$name")
    if [ -n "$reason" ]; then differ='those above'; fi
    compare "${name:0:28}" "$dir/one/$n" "$reason"
  done < <(find "$corpus" -name '*.jsonl' | LC_ALL=C sort)
  if [ "$n" -gt 0 ]; then compare 'all together' "$dir/all" "$differ"; fi
else
  echo "no folder $corpus: generated logs only" >&2
fi
echo
echo "$compared compared"
exit "$failed"
