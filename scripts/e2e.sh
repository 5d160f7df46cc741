#!/usr/bin/env bash
# e2e.sh [node --test arguments] [test file...]: runs the tests of tests/e2e, or only those of the files, against the
# programs in build/release/bin. A value is part of its argument: --test-name-pattern=PRO-08.
# A file ends with its last test, even if a failed test left something open. Two files run at a time, because most of
# their time is waiting.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

files=('tests/e2e/*.test.mjs')
for argument in "$@"; do
  if [[ $argument != -* ]]; then files=(); fi
done
output=$LOGS/e2e-output.log
status=0
"$(node_path)" --test --test-force-exit --test-reporter=spec --test-timeout=300000 --test-concurrency=2 "$@" "${files[@]}" 2>&1 | tee "$output" || status=$?
node_test_counts "$output"
exit "$status"
