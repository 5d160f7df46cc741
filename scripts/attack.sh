#!/usr/bin/env bash
# attack.sh [--full] [theme...]: the drills of tests/attack against the programs of build/release/bin, as a table.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"
exec "$(node_path)" tests/attack/run.mjs "$@"
