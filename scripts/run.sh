#!/usr/bin/env bash
# run.sh: starts the quickstart from what `make build` left: a bank, a server with something of everything, a back end, and the
# gateway in front of them, with a made-up company as a dataset that is ratified and not yet connected, and a tool session with a
# tool. Ctrl-C ends all of them.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

bin=build/release/bin
port=${PORT:-8080}
data=${PROTEUS_DATA:-./proteus-data}
url=http://127.0.0.1:$port
children=()
finish() {
  if ((${#children[@]})); then kill "${children[@]}" 2>/dev/null || true; fi
  wait
}
trap finish EXIT
trap 'exit 0' INT TERM

# The company's database, and its mapping, which is ratified with the pepper of this data directory.
(umask 077 && mkdir -p "$data")
export PROTEUS_MAPPINGS=${PROTEUS_MAPPINGS:-$data/mappings}
export ACME_DSN=${ACME_DSN:-sqlite://$(realpath "$data")/company.db}
if [[ ! -f $data/company.db ]]; then python3 examples/quickstart/company.py --out "$data/company.db"; fi
if [[ ! -f $PROTEUS_MAPPINGS/acme.toml ]]; then
  mkdir -p "$PROTEUS_MAPPINGS"
  cp -n examples/quickstart/ontology.toml "$PROTEUS_MAPPINGS/ontology.toml"
  "$bin/proteus" dataset ratify examples/quickstart/acme.toml --by "make run" --data "$data" >/dev/null
fi

"$bin/bank-server" --port 9301 --shared >/dev/null &
children+=("$!")
"$bin/everything-server" --port 9302 >/dev/null &
children+=("$!")
python3 examples/quickstart/backend.py --port 9303 &
children+=("$!")
"$bin/proteus" serve --config examples/quickstart/proteus.toml --listen "127.0.0.1:$port" --data "$data" &
gateway=$!
children+=("$gateway")
for _ in $(seq 200); do
  if curl -fs "$url/readyz" >/dev/null 2>&1; then break; fi
  if ! kill -0 "$gateway" 2>/dev/null; then exit 1; fi
  sleep 0.05
done

# admin <path> <body>: a request of the application's back end.
admin() {
  curl -fsS "$url$1" -H "X-Admin-Secret: $("$bin/proteus" admin-secret --data "$data")" -d "$2" >/dev/null
}
admin /admin/session/init '{"session_id": "demo", "user_token": "demo-token", "user_id": 1}'
admin /admin/tools/register '{"session_id": "demo", "tools": [{"name": "run_query", "description": "Runs a query",
  "url": "http://127.0.0.1:9303/fetch", "action": "open_table",
  "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}]}'

cat <<END

  MCP endpoint   $url/mcp, and the contexts $url/mcp/counter and $url/mcp/research
  Admin secret   $bin/proteus admin-secret --data $data
  Tool session   $url/mcp with the token demo-token has a tool of its own, run_query

Watch the list of tools in a second terminal, and change it from a third:

  DEMO=demo-token $bin/proteus client watch $url/mcp --bearer-env DEMO

  $bin/proteus client call $url/mcp connect_dataset '{"name": "acme"}'
  $bin/proteus client call $url/mcp banking_pin_authentication '{"pin": "1234"}'
  curl $url/admin/tools/register -H "X-Admin-Secret: \$($bin/proteus admin-secret --data $data)" \\
       -d '{"session_id": "demo", "tools": [{"name": "new_tool", "url": "http://127.0.0.1:9303/", "description": "Came just now", "inputSchema": {"type": "object"}}]}'

END
wait "$gateway"
