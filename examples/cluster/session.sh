#!/usr/bin/env bash
# session.sh <first URL> <second URL>: runs a session of a legacy client. Opens it at the first URL, calls a tool at the
# second URL every second, and prints the time, the status and the answer. Ends when the session is gone (404).
set -euo pipefail

began=$1
url=$2
post() {
  curl -s "$@" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' || true
}

hello='{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "session.sh", "version": "1"}}}'
session=$(post "$began" -D - -o /dev/null -d "$hello" | sed -n 's/^mcp-session-id: *\([^ \r]*\).*/\1/ip')
[[ $session ]] || { echo "error: no session at $began" >&2; exit 1; }
echo "session ${session:0:16}…, begun at $began"

status=
for ((id = 1; ; ++id)); do
  [[ $status != 404 ]] || exit 1
  call='{"jsonrpc": "2.0", "id": '$id', "method": "tools/call", "params": {"name": "everything_test_simple_text", "arguments": {}}}'
  answer=$(post "$url" -w '\n%{http_code}' -H "Mcp-Session-Id: $session" -H 'MCP-Protocol-Version: 2025-11-25' -d "$call")
  status=${answer##*$'\n'}
  echo "$(date +%T) $status $(sed -n 's/.*"\(text\|message\)":"\([^"]*\)".*/\2/p' <<<"$answer")"
  sleep "${PAUSE:-1}"
done
