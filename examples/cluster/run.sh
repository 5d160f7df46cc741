#!/usr/bin/env bash
# run.sh: starts three processes that serve as one, on what `make build` left: PostgreSQL, an upstream, three gateways and
# nginx before them, on loopback, with all their files in a temporary folder. Ctrl-C ends everything and removes it. nginx
# takes PORT (8080), PostgreSQL a socket in the folder, the others any free port. Needs Debian's postgresql-15 and
# nginx-light, which `scripts/setup.sh test` installs.
set -euo pipefail
cd "$(dirname "$0")/../.."

bin=${PROTEUS_BIN:-build/release/bin}
port=${PORT:-8080}
url=http://127.0.0.1:$port
postgres=${POSTGRES_BIN:-/usr/lib/postgresql/15/bin}
PATH=$PATH:/usr/sbin

fail() {
  echo "error: $*" >&2
  exit 1
}
[[ -x $bin/proteus ]] || fail "$bin/proteus is not there: make build"
[[ -x $postgres/postgres ]] || fail "PostgreSQL 15 is not installed: apt-get install postgresql-15"
command -v nginx >/dev/null || fail "nginx is not installed: apt-get install nginx-light"
if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then fail "port $port is in use; PORT=8090 $0 takes another"; fi

children=()
database=
folder=$(mktemp -d "${TMPDIR:-/tmp}/proteus-cluster-XXXXXX")
# The gateways drain while their database is there.
finish() {
  trap '' INT TERM
  if ((${#children[@]})); then kill "${children[@]}" 2>/dev/null || true; fi
  for child in "${children[@]}"; do wait "$child" 2>/dev/null || true; done
  if [[ $database ]]; then
    kill -INT "$database" 2>/dev/null || true
    wait "$database" 2>/dev/null || true
  fi
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 0' INT TERM

# until_there <what> <process> <command…>: waits until the command succeeds.
until_there() {
  local what=$1 child=$2
  shift 2
  for _ in $(seq 400); do
    if "$@" >/dev/null 2>&1; then return; fi
    if ! kill -0 "$child" 2>/dev/null; then break; fi
    sleep 0.05
  done
  fail "$what did not start; $(tail -n 3 "$folder/$what.log" 2>/dev/null)"
}

# PostgreSQL does not run as root. In a session of its own, like the others, it hears nothing of Ctrl-C, and ends last.
as_postgres=()
chmod 711 "$folder"
install -d -m 700 "$folder/database"
if ((EUID == 0)); then
  as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups)
  chown postgres:postgres "$folder/database"
fi
in_database() { (cd / && "${as_postgres[@]}" "$@"); }
in_database "$postgres/initdb" -D "$folder/database/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 >"$folder/postgres.log"
(cd / && exec setsid "${as_postgres[@]}" "$postgres/postgres" -D "$folder/database/data" -k "$folder/database" -h '') \
  >>"$folder/postgres.log" 2>&1 &
database=$!
until_there postgres "$database" in_database "$postgres/pg_isready" -q -h "$folder/database" -U postgres
if ((EUID == 0)); then chmod 711 "$folder/database"; fi

# serve <name> <command…>: starts it on a free port; its address is in $folder/<name> when this ends.
is_listening() { sed -n 's|^listening on http://\([^/]*\).*|\1|p' "$folder/$1.out" >"$folder/$1" && [[ -s $folder/$1 ]]; }
serve() {
  local name=$1
  shift
  setsid "$@" >"$folder/$name.out" 2>"$folder/$name.log" &
  children+=("$!")
  until_there "$name" "$!" is_listening "$name"
}
serve everything "$bin/everything-server" --port 0

export PROTEUS_STORE="postgresql://postgres@/postgres?host=$folder/database"
PROTEUS_PEPPER=$(openssl rand -hex 32)
PROTEUS_ADMIN_SECRET=$(openssl rand -hex 16)
export PROTEUS_PEPPER PROTEUS_ADMIN_SECRET
servers=
for name in one two three; do
  sed -e "s/NAME/$name/" -e "s/127.0.0.1:9302/$(<"$folder/everything")/" examples/cluster/proteus.toml >"$folder/$name.toml"
  serve "$name" "$bin/proteus" serve --config "$folder/$name.toml" --listen 127.0.0.1:0 --data "$folder/data"
  servers+="server $(<"$folder/$name"); "
done
for name in one two three; do
  until_there "$name" "${children[-1]}" curl -fs "http://$(<"$folder/$name")/readyz"
done

{
  if ((EUID == 0)); then echo "user root;"; fi
  sed -e "s|FOLDER|$folder|" -e "s|PORT|$port|" -e "s|PROCESSES|$servers|" examples/cluster/nginx.conf
} >"$folder/nginx.conf"
setsid nginx -e "$folder/nginx.log" -c "$folder/nginx.conf" -p "$folder" &
balancer=$!
children+=("$balancer")
until_there nginx "$balancer" curl -fs "$url/readyz"

cat <<END

  MCP endpoint   $url/mcp, before http://$(<"$folder/one")/mcp, http://$(<"$folder/two")/mcp and http://$(<"$folder/three")/mcp
  Page           $url/ui
  Admin secret   $PROTEUS_ADMIN_SECRET
  Logs           $folder/*.log

Whichever process gets it answers, and what one is told all of them serve:

  $bin/proteus client call $url/mcp everything_test_simple_text
  curl $url/admin/upstreams -H "X-Admin-Secret: $PROTEUS_ADMIN_SECRET" -d '{"name": "more", "url": "http://$(<"$folder/everything")/mcp"}' -D -
  $bin/proteus client list http://$(<"$folder/three")/mcp

Who is there, and what each of them watches; then end one, and look again:

  curl $url/admin/processes -H "X-Admin-Secret: $PROTEUS_ADMIN_SECRET"
  kill -9 ${children[1]}

Ctrl-C ends all of it.
END
wait "$balancer"
