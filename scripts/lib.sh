# shellcheck shell=bash
# Sourced by the scripts beside it, which run from the root of the checkout.
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

# The Node that npm carries: Debian's is too old for the conformance suite. By its path, because older npm links no
# program of that name.
node_path() {
  local cpu=x64
  if [[ $(uname -m) == aarch64 ]]; then cpu=arm64; fi
  printf '%s/tests/e2e/node_modules/node-linux-%s/bin/node' "$PWD" "$cpu"
}

# configure_and_build <preset> [cmake --build arguments]
configure_and_build() {
  local preset=$1
  shift
  cmake --preset "$preset" >"$LOGS/configure-$preset.log" || { cat "$LOGS/configure-$preset.log"; return 1; }
  cmake --build "build/$preset" --parallel "$(jobs)" "$@"
}
