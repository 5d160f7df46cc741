#!/usr/bin/env bash
# run.sh: starts the quickstart with the programs in build/release/bin: the bank server, the everything server, a back
# end, and the gateway in front of them. The gateway has the dataset of an invented company, ratified but not connected,
# and a tool session with one tool. Ctrl-C ends all programs. The gateway listens on PORT (8080), the others on free
# ports.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

bin=${PROTEUS_BIN:-build/release/bin}
port=${PORT:-8080}
data=${PROTEUS_DATA:-./proteus-data}
url=http://127.0.0.1:$port
if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
  fail "port $port is in use, perhaps by a quickstart that still runs. For a second one beside it: PORT=8090 PROTEUS_DATA=./other-data make run"
fi

children=()
scratch=$(mktemp -d)
finish() {
  if ((${#children[@]})); then kill "${children[@]}" 2>/dev/null || true; fi
  wait
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 0' INT TERM

# Makes the company's database, and ratifies its mapping with the pepper of this data directory.
(umask 077 && mkdir -p "$data")
export PROTEUS_MAPPINGS=${PROTEUS_MAPPINGS:-$data/mappings}
export ACME_DSN=${ACME_DSN:-sqlite://$(realpath "$data")/company.db}
if [[ ! -f $data/company.db ]]; then python3 examples/quickstart/company.py --out "$data/company.db"; fi
if [[ ! -f $PROTEUS_MAPPINGS/acme.toml ]]; then
  mkdir -p "$PROTEUS_MAPPINGS"
  cp -n examples/quickstart/ontology.toml "$PROTEUS_MAPPINGS/ontology.toml"
  "$bin/proteus" dataset ratify examples/quickstart/acme.toml --by "make run" --data "$data" >/dev/null
fi

# start <name> <command…>: starts a server on a free port and writes its address to $scratch/<name>.
start() {
  local name=$1
  shift
  "$@" --port 0 >"$scratch/$name.log" &
  children+=("$!")
  for _ in $(seq 200); do
    sed -n 's|^listening on http://\([^/]*\).*|\1|p' "$scratch/$name.log" >"$scratch/$name"
    if [[ -s $scratch/$name ]]; then return; fi
    if ! kill -0 "${children[-1]}" 2>/dev/null; then break; fi
    sleep 0.05
  done
  fail "$1 did not start"
}
start bank "$bin/bank-server" --shared
start everything "$bin/everything-server"
start backend python3 examples/quickstart/backend.py
backend=$(<"$scratch/backend")
sed -e "s/127.0.0.1:9301/$(<"$scratch/bank")/" -e "s/127.0.0.1:9302/$(<"$scratch/everything")/" \
  examples/quickstart/proteus.toml >"$scratch/proteus.toml"

"$bin/proteus" serve --config "$scratch/proteus.toml" --listen "127.0.0.1:$port" --data "$data" &
gateway=$!
children+=("$gateway")
for _ in $(seq 200); do
  if curl -fs "$url/readyz" >/dev/null 2>&1; then break; fi
  if ! kill -0 "$gateway" 2>/dev/null; then exit 1; fi
  sleep 0.05
done

# admin <path> <body>: sends a request to the admin API, as an application's back end does.
admin() {
  curl -fsS "$url$1" -H "X-Admin-Secret: $("$bin/proteus" admin-secret --data "$data")" -d "$2" >/dev/null
}
admin /admin/session/init '{"session_id": "demo", "user_token": "demo-token", "user_id": 1}'
admin /admin/tools/register '{"session_id": "demo", "tools": [{"name": "run_query", "description": "Runs a query",
  "url": "http://'"$backend"'/fetch", "action": "open_table",
  "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}]}'

cat <<END

  MCP endpoint   $url/mcp, and the contexts $url/mcp/counter and $url/mcp/research
  Page           $url/ui
  Admin secret   $bin/proteus admin-secret --data $data
  Tool session   $url/mcp with the token demo-token has a tool of its own, run_query

Watch the list of tools in a second terminal, and change it from a third:

  DEMO=demo-token $bin/proteus client watch $url/mcp --bearer-env DEMO

  $bin/proteus client call $url/mcp connect_dataset '{"name": "acme"}'
  $bin/proteus client call $url/mcp banking_pin_authentication '{"pin": "1234"}'
  curl $url/admin/tools/register -H "X-Admin-Secret: \$($bin/proteus admin-secret --data $data)" \\
       -d '{"session_id": "demo", "tools": [{"name": "new_tool", "url": "http://$backend/", "description": "Added just now", "inputSchema": {"type": "object"}}]}'

END
wait "$gateway"
