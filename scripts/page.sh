#!/usr/bin/env bash
# page.sh [screenshots | measure]: checks the types of ui/ and tests the page of build/release/bin/proteus in Debian's chromium, or
# takes pictures of all screens into build/screenshots, or prints what the page of a large gateway costs.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

if [[ ${1:-} == screenshots ]]; then
  exec "$(node_path)" tests/ui/screenshots.mjs build/screenshots
fi
if [[ ${1:-} == measure ]]; then
  exec "$(node_path)" tests/ui/measure.mjs "${@:2}"
fi

output=$LOGS/page-output.log
status=0
"$(node_path)" ui/node_modules/typescript/bin/tsc -p ui || fail "the types of ui/ do not fit"
"$(node_path)" --test --test-force-exit --test-reporter=spec --test-timeout=300000 'tests/ui/*.test.mjs' 2>&1 | tee "$output" || status=$?
awk '$2 == "pass" {p = $3} $2 == "fail" {f = $3} $2 == "cancelled" {c = $3} $2 == "skipped" {s = $3}
     END {printf "%d passed, %d failed, %d skipped\n", p, f + c, s}' "$output"
exit "$status"
