#!/usr/bin/env bash
# bench.sh [WORD]...: builds the programs and the micro benchmarks, and runs bench/run.py with the words.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

configure_and_build bench >"$LOGS/bench-build.log" 2>&1 || { tail -n 60 "$LOGS/bench-build.log"; fail "the build failed"; }
exec python3 -B bench/run.py "$@"
