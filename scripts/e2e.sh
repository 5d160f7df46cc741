#!/usr/bin/env bash
# e2e.sh [node --test arguments]: the tests of tests/e2e against the programs of build/release/bin.
# A file ends with its last test, whatever a failed one left open.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

output=$LOGS/e2e-output.log
status=0
"$(node_path)" --test --test-force-exit --test-reporter=spec --test-timeout=300000 "$@" 'tests/e2e/*.test.mjs' 2>&1 | tee "$output" || status=$?
awk '$2 == "pass" {p = $3} $2 == "fail" {f = $3} $2 == "cancelled" {c = $3} $2 == "skipped" {s = $3}
     END {printf "%d passed, %d failed, %d skipped\n", p, f + c, s}' "$output"
exit "$status"
