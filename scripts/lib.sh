# shellcheck shell=bash
# Sourced by the other scripts. Changes to the root of the checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

LOGS=build/logs
mkdir -p "$LOGS"

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

jobs() { printf '%s' "${JOBS:-$(nproc)}"; }

# Prints the path of the Node installed by npm: Debian's is too old for the conformance suite. The path names the
# platform package, because older versions of npm do not link its program.
node_path() {
  local cpu=x64
  if [[ $(uname -m) == aarch64 ]]; then cpu=arm64; fi
  printf '%s/tests/e2e/node_modules/node-linux-%s/bin/node' "$PWD" "$cpu"
}

# node_test_counts <output>: prints "<n> passed, <n> failed, <n> skipped" from the output of `node --test`.
node_test_counts() {
  awk '$2 == "pass" {passed = $3} $2 == "fail" {failed = $3} $2 == "cancelled" {cancelled = $3} $2 == "skipped" {skipped = $3}
       END {printf "%d passed, %d failed, %d skipped\n", passed, failed + cancelled, skipped}' "$1"
}

# configure_and_build <preset> [cmake --build arguments]: prints the output of the configuration only if it fails.
configure_and_build() {
  local preset=$1
  shift
  cmake --preset "$preset" >"$LOGS/configure-$preset.log" || { cat "$LOGS/configure-$preset.log"; return 1; }
  cmake --build --preset "$preset" --parallel "$(jobs)" "$@"
}
