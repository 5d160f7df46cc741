#!/usr/bin/env bash
# attack.sh [--full] [theme...]: runs the drills of tests/attack against the programs in build/release/bin, and prints a
# table.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"
exec "$(node_path)" tests/attack/run.mjs "$@"
