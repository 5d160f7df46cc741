#!/usr/bin/env bash
# page.sh: checks the types of ui/ and tests the page of build/release/bin/proteus in Debian's chromium.
# page.sh screenshots: takes screenshots of all screens into build/screenshots.
# page.sh measure: prints what the page of a large gateway costs.
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
"$(node_path)" ui/node_modules/typescript/bin/tsc -p ui || fail "type check of ui/ failed"
"$(node_path)" --test --test-force-exit --test-reporter=spec --test-timeout=300000 'tests/ui/*.test.mjs' 2>&1 | tee "$output" || status=$?
node_test_counts "$output"
exit "$status"
