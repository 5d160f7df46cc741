#!/usr/bin/env bash
# lint.sh [quick|all|format]
#   quick   formatting, includes, shell scripts, the systemd unit, file lengths
#   all     also clang-tidy over every source, which takes minutes
#   format  formats in place instead of checking
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

mode=${1:-all}
passed=0
failed=0

# Lists every file that a commit could contain, so that new files are checked before they are added. Without a usable
# git repository, as in an unpacked archive or another user's checkout, lists everything except build products.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard --deduplicate
  else
    find . -type d \( -name build -o -name node_modules -o -name .git \) -prune -o -type f -printf '%P\n'
  fi
}
tracked() {
  local file
  files | grep -E "$1" | while read -r file; do if [[ -e $file ]]; then printf '%s\n' "$file"; fi; done
}
mapfile -t cpp < <(tracked '\.[ch]pp$')
mapfile -t headers < <(tracked '\.hpp$')
mapfile -t shell < <(tracked '\.sh$|^\.ci/run$')

check() {
  local what=$1 output
  shift
  if output=$("$@" 2>&1); then
    passed=$((passed + 1))
    say "ok      $what"
  else
    failed=$((failed + 1))
    say "FAILED  $what"
  fi
  if [[ $output ]]; then head -n 60 <<<"$output" | sed 's/^/        /'; fi
}

formatting() {
  local output
  output=$(clang-format-19 --dry-run -Werror "${cpp[@]}" 2>&1) && return
  sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: error: .*/\1 is not formatted/p' <<<"$output" | sort -u
  say "\`make format\` formats them"
  return 1
}

# A relative path would get around the include directories that limit what a layer may include (cmake/Layers.cmake).
includes() { ! grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]([^">]*/)?\.\.?/' "${cpp[@]}"; }

pragma_once() { ! grep -L '^#pragma once' "${headers[@]}" | grep .; }

scripts_clean() { shellcheck --external-sources "${shell[@]}"; }

# systemd rates exposure from 0 to 10; the threshold is in tenths. The program need not be installed here.
unit_clean() {
  local folder=build/lint-unit unit=build/lint-unit/proteus.service output
  mkdir -p "$folder"
  sed 's#/usr/local/bin/proteus#/bin/true#' deploy/proteus.service >"$unit"
  # systemd-analyze succeeds even if it does not understand a setting, so any output is a failure.
  output=$(systemd-analyze verify --man=no "$unit" 2>&1) || true
  if [[ -n $output ]]; then
    say "$output"
    return 1
  fi
  output=$(systemd-analyze security --no-pager --offline=yes --threshold=15 "$unit" 2>&1) && return
  say "$output"
  return 1
}

# Only warns: a long file may have more than one subject.
lengths() { wc -l "${cpp[@]}" | awk '$2 != "total" && $1 > 400 {print "warning: " $2 " has " $1 " lines, more than 400"}'; }

# Leaves out tests: GoogleTest's macros cause most of the noise and take most of the time. Uses a unity build and the
# precompiled header, because the rest of the time goes into headers.
tidy() {
  local database=build/lint log=$LOGS/tidy.log
  if cmake --preset dev -B "$database" -DPROTEUS_TESTS=OFF -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 >"$log" 2>&1 &&
    cmake --build "$database" --target proteus_prelude >>"$log" 2>&1 &&
    run-clang-tidy-19 -quiet -p "$database" -j "$(jobs)" "$PWD/($database/.*/unity_[0-9]+_cxx\.cxx|(src|examples)/.*\.cpp)$" >>"$log" 2>&1; then
    return
  fi
  grep -E -A 4 '(error|warning):' "$log" || tail -n 30 "$log"
  return 1
}

if [[ $mode == format ]]; then
  clang-format-19 -i "${cpp[@]}"
  exit
fi

check "formatting (clang-format)" formatting
check "no relative includes" includes
check "every header has #pragma once" pragma_once
check "shell scripts (shellcheck)" scripts_clean
check "systemd unit (systemd-analyze)" unit_clean
check "file lengths" lengths
if [[ $mode == all ]]; then check "clang-tidy" tidy; fi
say "$passed passed, $failed failed"
((failed == 0))
