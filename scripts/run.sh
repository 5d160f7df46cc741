#!/usr/bin/env bash
# run.sh: starts the quickstart from what `make build` left: a bank, a server with something of everything, and the gateway
# in front of both, with a made-up company as a dataset that is ratified and not yet connected. Ctrl-C ends all of them.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

bin=build/release/bin
port=${PORT:-8080}
data=${PROTEUS_DATA:-./proteus-data}
url=http://127.0.0.1:$port/mcp
children=()
finish() {
  if ((${#children[@]})); then kill "${children[@]}" 2>/dev/null || true; fi
  wait
}
trap finish EXIT
trap 'exit 0' INT TERM

# The company's database, and its mapping, which is ratified with the pepper of this data directory.
mkdir -p -m 700 "$data"
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
"$bin/proteus" serve --config examples/quickstart/proteus.toml --listen "127.0.0.1:$port" --data "$data" &
gateway=$!
children+=("$gateway")
for _ in $(seq 100); do
  if curl -fs "http://127.0.0.1:$port/readyz" >/dev/null 2>&1; then break; fi
  if ! kill -0 "$gateway" 2>/dev/null; then exit 1; fi
  sleep 0.1
done

cat <<END

  MCP endpoint   $url
  Admin API      http://127.0.0.1:$port/admin, with the secret that \`$bin/proteus admin-secret --data $data\` prints

Watch the list of tools in a second terminal, and change it from a third:

  $bin/proteus client watch $url
  $bin/proteus client call $url banking_pin_authentication '{"pin": "1234"}'
  $bin/proteus client call $url everything_test_trigger_tool_change '{}'
  $bin/proteus client call $url connect_dataset '{"name": "acme"}'
  $bin/proteus client call $url workup_acme '{"entity": "Amber Anchor"}'
  curl -H "X-Admin-Secret: \$($bin/proteus admin-secret --data $data)" http://127.0.0.1:$port/admin/upstreams \\
       -d '{"name": "again", "url": "http://127.0.0.1:9302/mcp"}'

END
wait "$gateway"
