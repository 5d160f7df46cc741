#!/usr/bin/env bash
# build.sh <preset> [cmake --build arguments]: configures and builds a preset.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

# Prints a hint if more than a tenth of the sources have changed since the profile for releases was recorded
# (docs/adr/0007).
say_if_profile_is_old() {
  local recorded changed all
  local -r tests='_test\.cpp$|/testing/'
  recorded=$(git log -1 --format=%H -- bench/proteus.profdata 2>/dev/null) || return 0
  [[ -n $recorded ]] || return 0
  changed=$(git diff --name-only "$recorded" -- 'src/*.cpp' 'src/*.hpp' | grep -Ecv "$tests" || true)
  all=$(git ls-files 'src/*.cpp' 'src/*.hpp' | grep -Ecv "$tests" || true)
  ((changed * 10 > all)) || return 0
  echo "The recorded profile is out of date: $changed of $all source files have changed since. Run make profile for a faster release."
}

configure_and_build "$@"
if [[ $1 == release ]]; then say_if_profile_is_old; fi
