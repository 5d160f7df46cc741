"""Tool sessions: what a registration costs, what a call costs beside nginx as a proxy to the same back end, what an idle session
holds, and how soon a client hears of a new tool."""
import http.client
import json
import os
import pathlib
import statistics
import threading
import time

import servers

SECRET = "bench"
SESSIONS = int(os.environ.get("BENCH_SESSIONS", 5000))
AT_ONCE = 32
NOTIFICATIONS = 20
MEMORY_LIMIT = 8192
NOTIFICATION_LIMIT_MS = 50
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0.0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
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


def gateway(core, folder):
    program = pathlib.Path(os.environ.get("PROTEUS_BIN", servers.ROOT / "build/release/bin")) / "proteus"
    config = folder / "sessions.toml"
    config.write_text('[server]\nlisten = "127.0.0.1:0"\nthreads = 1\n')
    os.environ["PROTEUS_ADMIN_SECRET"] = SECRET
    command = [program, "serve", "--config", config, "--data", folder / "sessions-data"]
    return servers.Server("proteus", command, core, log=folder / "sessions.log")


class Admin:
    """One connection to the admin API."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def post(self, path, body):
        self.connection.request("POST", path, json.dumps(body), {"X-Admin-Secret": SECRET})
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        if response.status != 200:
            raise RuntimeError(f"{path}: HTTP {response.status}: {answer}")
        return answer


def at_once(count, act):
    """Calls `act` with each number, from several threads with a connection of their own."""
    numbers = iter(range(count))
    lock = threading.Lock()
    failures = []

    def work():
        own = act()
        while True:
            with lock:
                number = next(numbers, None)
            if number is None or failures:
                return
            try:
                own(number)
            except Exception as failure:  # whatever it is, it is told after the threads have ended
                failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def resident_bytes(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def measure_registrations(server, url):
    """Sessions with the five tools of the usual shape: registrations per second, CPU each, and memory of an idle one."""

    def worker(prefix):
        admin = Admin(server)
        return lambda number: admin.post("/admin/tools/register", registration(f"{prefix}-{number}", url))

    at_once(20 * AT_ONCE, lambda: worker("warm"))
    before = resident_bytes(server)
    cpu, begin = server.cpu_seconds(), time.monotonic()
    at_once(SESSIONS, lambda: worker("s"))
    seconds, cpu = time.monotonic() - begin, server.cpu_seconds() - cpu
    tools = SESSIONS * 5
    return {
        "tools_per_second": tools / seconds,
        "cpu_us": cpu / tools * 1e6,
        "bytes_per_session": (resident_bytes(server) - before) / SESSIONS,
    }


def registration(session, url):
    tools = [tool(f"query_table_{i}", url) for i in range(5)]
    return {"session_id": session, "user_token": f"tok-{session}", "user_id": 7, "tools": tools}


def measure_notifications(server, url):
    """From the REST answer to the notification, in milliseconds, as a client on the same machine sees both."""
    admin = Admin(server)
    admin.post("/admin/session/init", {"session_id": "told", "user_token": "tok-told", "user_id": 7})
    stream = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "subscriptions/listen",
        "params": {"notifications": {"toolsListChanged": True}, "_meta": META},
    }
    stream.request("POST", "/mcp", json.dumps(message), call_headers("subscriptions/listen", "", "tok-told"))
    events = stream.getresponse()
    heard = []
    wake = threading.Semaphore(0)

    def read():
        try:
            for line in events:
                if b"tools/list_changed" in line:
                    heard.append(time.monotonic())
                    wake.release()
        except (AttributeError, OSError, ValueError):
            return  # closed below, which Python's own client does not expect of itself

    threading.Thread(target=read, daemon=True).start()
    samples = []
    for number in range(NOTIFICATIONS):
        time.sleep(0.25)  # beyond the debounce window, within which changes are one
        admin.post("/admin/tools/register", {"session_id": "told", "tools": [tool(f"t{number}", url)]})
        answered = time.monotonic()
        if not wake.acquire(timeout=10):
            raise RuntimeError("a client was not told of a new tool")
        samples.append(max(0.0, (heard[-1] - answered) * 1000))
    stream.close()
    return samples


def call_headers(method, name, token):
    return {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        "Authorization": f"Bearer {token}",
        **({"Mcp-Name": name} if name else {}),
    }


class Call:
    """The load: one call of a session tool; for nginx what the back end gets."""

    row = "tools/call of a session tool"
    method = "tools/call"
    name = "run_query"
    token = "tok-call"

    def __init__(self, to_gateway):
        arguments = {"query": "select id, name from customers where name like 'a%' order by name", "limit": 20}
        if to_gateway:
            params = {"name": self.name, "arguments": arguments, "_meta": META}
            body = {"jsonrpc": "2.0", "id": 1, "method": self.method, "params": params}
        else:
            body = {**arguments, "connector_id": 42, "action": "open_table"}
        self.body = json.dumps(body, separators=(",", ":")).encode()


def measure(run_load, cores, seconds, rounds, folder):
    """Rows for the table, and the samples."""
    server_core, load_core = cores
    running = []
    raw = {"calls": []}
    try:
        backend = servers.nginx(ANSWER, load_core, folder / "nginx-backend")
        running.append(backend)
        url = f"http://127.0.0.1:{backend.port}/mcp"
        ours = gateway(server_core, folder)
        running.append(ours)
        proxy = servers.nginx_proxy(backend.port, server_core, folder / "nginx-proxy")
        running.append(proxy)

        body = {"session_id": "call", "user_token": Call.token, "user_id": 7, "tools": [tool(Call.name, url)]}
        Admin(ours).post("/admin/tools/register", body)
        check_call(ours)
        pairs = [(Call(True), ours), (Call(False), proxy)]
        for load, server in pairs:
            run_load(server, load, min(1, seconds), load_core, folder)
        for number in range(rounds):
            for load, server in pairs if number % 2 == 0 else reversed(pairs):
                sample = run_load(server, load, seconds, load_core, folder)
                raw["calls"].append({"server": server.name, "round": number + 1, **sample})
        raw["notifications_ms"] = measure_notifications(ours, url)
        raw["registrations"] = measure_registrations(ours, url)
    finally:
        for server in running:
            server.stop()
    return rows(raw), raw


def check_call(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("POST", "/mcp", Call(True).body, call_headers(Call.method, Call.name, Call.token))
    answer = json.loads(connection.getresponse().read())
    if answer.get("result", {}).get("structuredContent") != json.loads(ANSWER):
        raise RuntimeError(f"a session tool gives a wrong answer: {answer}")


def rows(raw):
    def median(server, key):
        return statistics.median(sample[key] for sample in raw["calls"] if sample["server"] == server)

    made = raw["registrations"]
    proxy = "nginx proxy_pass"
    return [
        (f"{Call.row}: throughput", median("proteus", "throughput"), median(proxy, "throughput"), proxy, "requests/s"),
        (f"{Call.row}: CPU per request", median("proteus", "cpu_us"), median(proxy, "cpu_us"), proxy, "µs"),
        ("session tool registration, durable", made["tools_per_second"], None, None, "tools/s"),
        ("session tool registration, durable: CPU each", made["cpu_us"], None, None, "µs"),
        ("idle session with five tools", made["bytes_per_session"], MEMORY_LIMIT, "limit", "bytes"),
        (
            "from the REST answer to the notification",
            statistics.median(raw["notifications_ms"]),
            NOTIFICATION_LIMIT_MS,
            "limit",
            "ms",
        ),
    ]
