#!/usr/bin/env bash
# fuzz.sh [target...]: runs the fuzz targets, FUZZ_SECONDS each, as many at once as there are cores.
#
# A target reads its seeds from fuzz/corpus/<target without _fuzz>, which is under version control. It writes new inputs
# to build/fuzz/corpus and failing inputs to fuzz/findings. To reproduce a finding: build/fuzz/bin/<target> <input>
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

export FUZZ_SECONDS=${FUZZ_SECONDS:-60}
export ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-19
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

fuzz_one() {
  local target=$1 log=build/logs/fuzz-$1.log finding
  local seeds=fuzz/corpus/${target%_fuzz} learned=build/fuzz/corpus/$target findings=fuzz/findings/$target
  local arguments=("-max_total_time=$FUZZ_SECONDS" -timeout=10 -rss_limit_mb=2048 "-artifact_prefix=$findings/"
    -print_final_stats=1 "$learned")
  mkdir -p "$learned" "$findings"
  if [[ -f $seeds.dict ]]; then arguments=("-dict=$seeds.dict" "${arguments[@]}"); fi
  if [[ -d $seeds ]]; then arguments+=("$seeds"); fi
  if "build/fuzz/bin/$target" "${arguments[@]}" >"$log" 2>&1; then
    printf 'ok      %-32s %s runs\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    rmdir --ignore-fail-on-non-empty "$findings"
  else
    finding=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    printf 'FAILED  %-32s input: %s, log: %s\n' "$target" "${finding:-none}" "$log"
    { grep -m 8 -E 'ERROR|SUMMARY|runtime error|ALARM' "$log" || tail -n 8 "$log"; } | sed 's/^/        /'
  fi
}
export -f fuzz_one

configure_and_build fuzz
targets=("$@")
if ((${#targets[@]} == 0)); then
  mapfile -t targets < <(find build/fuzz/bin -maxdepth 1 -type f -name '*_fuzz' -printf '%f\n' 2>/dev/null | sort)
fi
((${#targets[@]})) || fail "no fuzz targets were built"

say "Fuzzing ${#targets[@]} targets for $FUZZ_SECONDS s each"
results=$(printf '%s\n' "${targets[@]}" | xargs -P "$(jobs)" -I{} bash -c 'fuzz_one {}' | tee /dev/stderr)
failed=$(grep -c '^FAILED' <<<"$results" || true)
rmdir --ignore-fail-on-non-empty fuzz/findings 2>/dev/null || true
say "$((${#targets[@]} - failed)) passed, $failed failed"
((failed == 0))
