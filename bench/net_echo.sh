#!/bin/bash
# Compares the CPU time per request of our HTTP server with nginx answering the same kilobyte. Needs nginx and wrk. The
# servers share one core, the load generator has another.
#
#   bench/net_echo.sh build/release/bin/net_echo [seconds] [connections]
set -euo pipefail

program=$1
seconds=${2:-10}
connections=${3:-32}
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT

text=$(head -c 936 /dev/zero | tr '\0' x)
cat >"$work/nginx.conf" <<CONF
worker_processes 1; daemon off; pid $work/pid; error_log $work/error.log crit;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; client_body_buffer_size 16k; default_type application/json;
  client_body_temp_path $work/a; proxy_temp_path $work/b; fastcgi_temp_path $work/c; uwsgi_temp_path $work/d;
  scgi_temp_path $work/e;
  server {
    listen 127.0.0.1:18090;
    location / { return 200 '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"$text"}]}}'; }
  }
}
CONF
cat >"$work/post.lua" <<LUA
wrk.method = "POST"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"$text"}}}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["Authorization"] = "Bearer 0123456789abcdef0123456789abcdef"
wrk.headers["MCP-Protocol-Version"] = "2025-11-25"
wrk.headers["User-Agent"] = "bench/1.0"
LUA

cpu() { awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1e6 / hz }' "/proc/$1/stat"; }

measure() {
  local name=$1 pid=$2 port=$3 before after requests
  before=$(cpu "$pid")
  requests=$(taskset -c 1 wrk -t1 -c"$connections" -d"${seconds}s" -s "$work/post.lua" "http://127.0.0.1:$port/mcp" |
    awk '/requests in/ { print $1 }')
  after=$(cpu "$pid")
  awk -v name="$name" -v us="$after" -v from="$before" -v n="$requests" -v s="$seconds" \
    'BEGIN { printf "%-10s %6.2f us of CPU per request, %7.0f requests per second\n", name, (us - from) / n, n / s }'
}

taskset -c 0 nginx -c "$work/nginx.conf" -p "$work" &
taskset -c 0 "$program" 18091 1 &
ours=$!
sleep 1
theirs=$(pgrep -P "$(cat "$work/pid")")
for _ in 1 2; do
  measure nginx "$theirs" 18090
  measure proteus "$ours" 18091
done
