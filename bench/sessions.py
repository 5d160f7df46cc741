"""Measures tool sessions: registrations, calls compared with nginx as a proxy to the same back end, the memory of an
idle session, and how soon a client is notified of a new tool."""
import contextlib
import json
import os
import statistics
import threading
import time

import client
import listener
import load
import nginx
import servers
import table

SESSIONS = int(os.environ.get("BENCH_SESSIONS", 5000))
AT_ONCE = 32
NOTIFICATIONS = 20
MEMORY_LIMIT = 8192
NOTIFICATION_LIMIT_MS = 50
CALL = "tools/call of a session tool"
TOKEN = "tok-call"
ANSWER = json.dumps({"rows": [{"id": i, "name": f"customer {i}"} for i in range(20)]}, separators=(",", ":")).encode()


def tool(name, url, **more):
    return {
        "name": name,
        "title": "Query Table",
        "description": "Execute a SQL query on the connected datasource",
        "url": url,
        "action": "open_table",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "SQL query to execute"},
                "limit": {"type": "integer", "description": "Max rows to return"},
                "schema": {"type": "string", "description": "Target schema name"},
            },
            "required": ["query"],
        },
        "annotations": {"readOnlyHint": True, "destructiveHint": False},
        "fixed_params": {"connector_id": 42},
        **more,
    }


def registration(session, url, count=5):
    tools = [tool(f"query_table_{i}", url) for i in range(count)]
    return {"session_id": session, "user_token": f"tok-{session}", "user_id": 7, "tools": tools}


@contextlib.contextmanager
def gateway_and_backend(bench):
    """Starts a gateway without upstreams and a back end with a fixed answer, and yields both and the back end's URL."""
    with nginx.fixed(bench, bench.load_core, ANSWER) as backend:
        with servers.gateway(bench, bench.server_core, "") as gateway:
            yield gateway, backend, f"http://127.0.0.1:{backend.port}/mcp"


def measure_calls(bench):
    arguments = {"query": "select id, name from customers where name like 'a%' order by name", "limit": 20}

    def right(result):
        assert result["structuredContent"] == json.loads(ANSWER), "not the answer of the back end"

    with gateway_and_backend(bench) as (gateway, backend, url):
        with nginx.proxy(bench, bench.server_core, backend) as proxy:
            body = {**registration("call", url, 0), "tools": [tool("run_query", url)]}
            client.Admin(gateway).post("/admin/tools/register", body)
            params = {"name": "run_query", "arguments": arguments}
            ours = load.Load("tools/call", "run_query", params, right, token=TOKEN)
            sent = json.dumps({**arguments, "connector_id": 42, "action": "open_table"}, separators=(",", ":")).encode()
            theirs = load.Load("tools/call", "run_query", body=sent, token=TOKEN)  # as sent by our gateway
            medians = load.in_turn(bench, CALL, {"proteus": (gateway, ours), proxy.name: (proxy, theirs)})
    return table.compared(CALL, medians, "proteus", proxy.name, cpu_at_most=1.5)


def measure_notifications(bench):
    """Measures the time from the REST answer to the notification, as seen by a client on the same machine."""
    with gateway_and_backend(bench) as (gateway, _, url):
        admin = client.Admin(gateway)
        admin.post("/admin/session/init", {"session_id": "told", "user_token": "tok-told", "user_id": 7})

        def register(number):
            admin.post("/admin/tools/register", {"session_id": "told", "tools": [tool(f"t{number}", url)]})

        with listener.Listener(gateway, "tok-told") as told:
            samples = listener.latencies(told, register, NOTIFICATIONS)
    name = "session tool: from the REST answer to the notification"
    bench.keep(name, {"ms": samples})
    return [table.limited(name, statistics.median(samples), NOTIFICATION_LIMIT_MS, "ms")]


def measure_registrations(bench):
    """Registers sessions with five typical tools: registrations per second, CPU time, and memory of an idle session."""
    with gateway_and_backend(bench) as (gateway, _, url):

        def worker(prefix):
            admin = client.Admin(gateway)
            return lambda number: admin.post("/admin/tools/register", registration(f"{prefix}-{number}", url))

        at_once(20 * AT_ONCE, lambda: worker("warm"))
        before = gateway.resident_bytes()
        cpu, begin = gateway.cpu_seconds(), time.monotonic()
        at_once(SESSIONS, lambda: worker("s"))
        seconds, cpu = time.monotonic() - begin, gateway.cpu_seconds() - cpu
        each = (gateway.resident_bytes() - before) / SESSIONS
    tools = SESSIONS * 5
    bench.keep("registrations", {"tools": tools, "seconds": seconds, "cpu_seconds": cpu, "bytes_each": each})
    return [
        table.row("session tool registration, durable", tools / seconds, unit="tools/s"),
        table.row("session tool registration, durable: CPU each", cpu / tools * 1e6, unit="µs"),
        table.limited("idle session with five tools", each, MEMORY_LIMIT, "bytes"),
    ]


def at_once(count, make_worker):
    """Processes each number below `count` in one of several threads, each with its own worker."""
    numbers = iter(range(count))
    lock = threading.Lock()
    failures = []

    def work():
        try:
            act = make_worker()
            while not failures:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                act(number)
        except Exception as failure:  # raised after all threads have ended
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
