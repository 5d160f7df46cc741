#!/usr/bin/env bash
# build.sh <preset> [cmake --build arguments]: configures and builds a preset.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"
configure_and_build "$@"
