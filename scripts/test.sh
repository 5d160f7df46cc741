#!/usr/bin/env bash
# test.sh [full]: runs all tests, in sections.
#
# A section writes its output to build/logs/<name>.log; if the section fails, the end of the log is shown. The log ends
# with "<n> passed, <n> failed", optionally followed by ", <n> skipped"; a section without that line counts as one test.
# The summary lists the failed tests: lines of a log that begin with "failed: " or with the cross of Node's reporter and
# the first line of the error, and rows of a table that did not hold. The last line of output is the total, in the same
# form.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

mode=${1:-}
passed=0
failed=0
skipped=0
summary=()
failures=()
declare -A succeeded=()

# heading <text>: prints a heading, bold on a terminal.
heading() { if [[ -t 1 ]]; then printf '\e[1m== %s\e[0m\n' "$1"; else printf '== %s\n' "$1"; fi; }

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# count <log> <status>: sets counts to the passed, failed and skipped tests of one section.
count() {
  local line
  line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$1" | tail -n 1 || true)
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
    counts=("${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[4]:-0}")
    # A section that crashes after its last test has failed, too.
    if (($2 != 0 && counts[1] == 0)); then counts[1]=1; fi
  elif (($2 == 0)); then
    counts=(1 0 0)
  else
    counts=(0 1 0)
  fi
}

# section <name> <needs> <title> <command...>: runs a section. <needs> is a section that must have succeeded before, or
# "-".
section() {
  local name=$1 needs=$2 title=$3 status=0 started=$SECONDS log=$LOGS/$1.log counts
  shift 3
  heading "$title"
  if [[ $needs != - && ! ${succeeded[$needs]:-} ]]; then
    say "   not run: it needs the section $needs"
    failed=$((failed + 1))
    summary+=("$(printf '  %-14s %6s   not run, 1 failed' "$name" -)")
    return
  fi
  "$@" >"$log" 2>&1 || status=$?
  count "$log" "$status"
  passed=$((passed + counts[0]))
  failed=$((failed + counts[1]))
  skipped=$((skipped + counts[2]))
  if ((counts[1] == 0)); then
    succeeded[$name]=yes
  else
    tail -n 200 "$log" | sed 's/^/   | /'
    say "   the whole output is in $log"
    mapfile -t -O "${#failures[@]}" failures < <(
      grep -aE '^ *(failed: |FAILED |✖ |\| .* \| DID NOT HOLD)|^  [A-Za-z]*Error( \[|: )' "$log" | sed "s/^ */  $name: /" | grep -v 'failing tests:$' | awk '!seen[$0]++' | head -n 20
    )
  fi
  grep -aE '^skipped: ' "$log" | sed 's/^/   /' || true
  summary+=("$(printf '  %-14s %6s   %d passed, %d failed, %d skipped' "$name" "$(clock $((SECONDS - started)))" "${counts[@]}")")
  say "   $(clock $((SECONDS - started))), ${counts[0]} passed, ${counts[1]} failed, ${counts[2]} skipped"
}

e2e() { scripts/e2e.sh; }
conformance() { "$(node_path)" tests/conformance/run.mjs "$@"; }

heading "Packages"
groups=(build test lint npm)
if [[ $mode == full ]]; then groups+=(compat); fi
scripts/setup.sh "${groups[@]}"

lint=quick
matrix=short
drills=()
if [[ $mode == full ]]; then
  lint=all
  matrix=full
  drills=(--full)
  export PROTEUS_DRILL_WRITERS=1000 PROTEUS_DRILL_FAULTS=60 PROTEUS_DRILL_SESSION_FAULTS=60 PROTEUS_DRILL_UPSTREAMS=1000 PROTEUS_DRILL_BLIND=1
fi
section lint - "Lint (clang-tidy: make lint, make test-full)" scripts/lint.sh "$lint"
section release - "Release build" scripts/build.sh release
section conformance release "Conformance: the official suite, server and client, both revisions" conformance
section e2e release "The official TypeScript clients v1 and v2, and the command line" e2e
section page release "The page in a browser" scripts/page.sh
section compat release "Third-party servers and clients, directly and through the gateway" scripts/compat.sh "$matrix"
section attack release "Attack drills" scripts/attack.sh "${drills[@]}"
section install release "Installation: an outside project, clang 19 and g++ 12" tests/install/run.sh
section unit - "Unit and integration tests, address and undefined-behaviour sanitizers" scripts/unit.sh asan
if [[ $mode == full ]]; then
  section unit-tsan - "Unit and integration tests, thread sanitizer" scripts/unit.sh tsan
  section single-era release "Conformance of servers of one era" conformance --single-era
  section fuzz - "Fuzzing, ${FUZZ_SECONDS:-60} s for each target" scripts/fuzz.sh
fi

heading "Summary, after $(clock "$SECONDS")"
printf '%s\n' "${summary[@]}"
if ((skipped)); then say "  $skipped skipped"; fi
if ((${#failures[@]})); then printf '%s\n' "${failures[@]}"; fi
say
say "$passed passed, $failed failed"
((failed == 0))
