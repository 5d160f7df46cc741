#!/usr/bin/env bash
# unit.sh <preset>: builds a preset and runs its unit and integration tests.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

preset=$1
report=$PWD/$LOGS/unit-$preset.xml

export ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-19
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:external_symbolizer_path=/usr/bin/llvm-symbolizer-19}

configure_and_build "$preset"
rm -f "$report"
status=0
ctest --preset "$preset" --parallel "$(jobs)" --no-tests=error --output-junit "$report" || status=$?
if [[ -f $report ]]; then scripts/junit_counts.py "$report" || status=$?; fi
exit "$status"
