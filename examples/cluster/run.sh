#!/usr/bin/env bash
# run.sh: starts three processes that serve as one, with the programs that `make build` built: PostgreSQL, Redis, an
# upstream, three gateways, and nginx in front of them. All run on loopback, with their files in a temporary folder.
# Ctrl-C ends everything and removes the folder. nginx listens on PORT (8080), PostgreSQL on a socket in the folder, the
# others on free ports. Needs Debian's postgresql-15, redis-server and nginx-light, which `scripts/setup.sh test`
# installs.
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
command -v redis-server >/dev/null || fail "Redis is not installed: apt-get install redis-server"
command -v nginx >/dev/null || fail "nginx is not installed: apt-get install nginx-light"
is_used() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
if is_used "$port"; then fail "port $port is in use; PORT=8090 $0 takes another"; fi

children=()
database=
folder=$(mktemp -d "${TMPDIR:-/tmp}/proteus-cluster-XXXXXX")
# Ends the database last, because the gateways need it while they drain.
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

# PostgreSQL refuses to run as root. setsid protects it and the other programs from Ctrl-C, so that `finish` ends them
# in order.
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

# Redis keeps the sessions of legacy clients when their process dies. It cannot choose a free port itself, so this looks
# for an unused one.
redis_port=$((20000 + RANDOM % 10000))
while is_used "$redis_port"; do redis_port=$((redis_port + 1)); done
redis_password=$(openssl rand -hex 16)
setsid redis-server - >"$folder/redis.log" 2>&1 <<END &
port $redis_port
bind 127.0.0.1
dir $folder
$(sed "s/PASSWORD/$redis_password/" deploy/redis.conf)
END
children+=("$!")
until_there redis "$!" is_used "$redis_port"

# serve <name> <command…>: starts a server on a free port and writes its address to $folder/<name>.
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
export PROTEUS_REDIS="redis://proteus:$redis_password@127.0.0.1:$redis_port"
PROTEUS_PEPPER=$(openssl rand -hex 32)
PROTEUS_ADMIN_SECRET=$(openssl rand -hex 16)
export PROTEUS_PEPPER PROTEUS_ADMIN_SECRET
servers=
declare -A process
for name in one two three; do
  sed -e "s/NAME/$name/" -e "s/127.0.0.1:9302/$(<"$folder/everything")/" examples/cluster/proteus.toml >"$folder/$name.toml"
  serve "$name" "$bin/proteus" serve --config "$folder/$name.toml" --listen 127.0.0.1:0 --data "$folder/data"
  servers+="server $(<"$folder/$name"); "
  process[$name]=${children[-1]}
done
for name in one two three; do
  until_there "$name" "${process[$name]}" curl -fs "http://$(<"$folder/$name")/readyz"
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

Any process answers, and a change at one applies to all:

  $bin/proteus client call $url/mcp everything_test_simple_text
  curl $url/admin/upstreams -H "X-Admin-Secret: $PROTEUS_ADMIN_SECRET" -d '{"name": "more", "url": "http://$(<"$folder/everything")/mcp"}' -D -
  $bin/proteus client list http://$(<"$folder/three")/mcp

The live processes, and what each of them watches:

  curl $url/admin/processes -H "X-Admin-Secret: $PROTEUS_ADMIN_SECRET"

A legacy client begins a session at the first process, and calls something every second. Kill that process meanwhile:
another goes on with the session as soon as it is known to be dead, three seconds later.

  examples/cluster/session.sh http://$(<"$folder/one")/mcp $url/mcp
  kill -9 ${process[one]}

Ctrl-C ends all of it.
END
wait "$balancer"
