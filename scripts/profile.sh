#!/usr/bin/env bash
# profile.sh: records a profile while short runs of the benchmarks load the programs, and writes bench/proteus.profdata,
# which the release preset optimises with.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

readonly RAW=$PWD/build/profile/raw
readonly SECTIONS="server,gateway call,gateway list,gateway cached,eras,sessions call,sessions notification,sessions registration,contexts,streams,cluster sessions call"

configure_and_build profile >"$LOGS/profile-build.log" 2>&1 || { tail -n 60 "$LOGS/profile-build.log"; fail "the build failed"; }
rm -rf "$RAW"
export LLVM_PROFILE_FILE=$RAW/%m.profraw
PROTEUS_BIN=$PWD/build/profile/bin BENCH_ONLY=$SECTIONS BENCH_SECONDS=1 BENCH_ROUNDS=1 BENCH_STREAMS=500 BENCH_SESSIONS=500 \
  python3 -B bench/run.py >"$LOGS/profile.log" || { cat "$LOGS/profile.log"; fail "the load failed"; }
for program in workup_bench catalog_bench; do
  "build/profile/bin/$program" --benchmark_min_time=0.2 >>"$LOGS/profile.log" 2>&1 || { tail -n 20 "$LOGS/profile.log"; fail "$program failed"; }
done
llvm-profdata-19 merge --text "$RAW"/*.profraw | python3 -B bench/trim_profile.py >"$RAW/often.txt"
llvm-profdata-19 merge --sparse -o bench/proteus.profdata "$RAW/often.txt"
say "written: bench/proteus.profdata, $(stat -c %s bench/proteus.profdata) bytes"
