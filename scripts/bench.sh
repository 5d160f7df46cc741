#!/usr/bin/env bash
# bench.sh [WORD]...: builds the programs and the micro benchmarks, and runs bench/run.py with the words.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

configure_and_build release >"$LOGS/bench-build.log" 2>&1 || { tail -n 60 "$LOGS/bench-build.log"; fail "the release build failed"; }
mapfile -t micro < <(find bench -maxdepth 1 -name '*_bench.cpp' -printf '%f\n' | sed 's/\.cpp$//')
micro+=(search_quality)
if ((${#micro[@]})); then
  configure_and_build bench --target "${micro[@]}" >>"$LOGS/bench-build.log" 2>&1 ||
    { tail -n 60 "$LOGS/bench-build.log"; fail "the micro benchmarks did not build"; }
fi
exec python3 -B bench/run.py "$@"
