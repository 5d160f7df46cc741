#!/usr/bin/env bash
# run.sh: starts the quickstart from what `make build` left.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

port=${PORT:-8080}
url=http://127.0.0.1:$port/mcp
client="build/release/bin/proteus client"
cat <<END

The gateway is not in the tree yet; until it is, this starts the everything-server, which shows both eras of the protocol.

  MCP endpoint: $url

In another terminal:

  $client list $url
  $client call $url test_simple_text '{}'
  $client watch $url

END
exec build/release/bin/everything-server --port "$port"
