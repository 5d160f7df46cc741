#!/usr/bin/env bash
# compat.sh [short|full] [run.mjs arguments]: tests third-party servers and clients, directly and through the gateway.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

"$(node_path)" tests/compat/run.mjs "${@:-short}"
