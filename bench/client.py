"""Messages and headers of clients of either era, and a few requests."""
import http.client
import json

LEGACY, MODERN = "2025-11-25", "2026-07-28"
NAME = {"name": "bench", "version": "1.0.0"}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": NAME,
    "io.modelcontextprotocol/clientCapabilities": {},
}
SECRET = "bench"  # of the admin API


def message(method, params, era=MODERN, meta=None):
    """Returns the body of a request."""
    own = {**(META if era == MODERN else {}), **(meta or {})}
    params = {**params, "_meta": own} if own else params
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, separators=(",", ":")).encode()


def headers(method, name="", token="", era=MODERN, session=""):
    made = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": era,
    }
    if era == MODERN:
        made["Mcp-Method"] = method
        if name:
            made["Mcp-Name"] = name
    if session:
        made["Mcp-Session-Id"] = session
    if token:
        made["Authorization"] = f"Bearer {token}"
    return made


def post(server, path, body, sent):
    """Returns the response and its body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request("POST", path, body, sent)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def repeat(connection, what, calls):
    """Sends a load `calls` times over one connection, one after the other."""
    for _ in range(calls):
        connection.request("POST", what.path, what.body, what.headers())
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"HTTP {answer.status}")


def events(body):
    """Returns the messages of an event stream."""
    data = (line[5:] for line in body.decode().splitlines() if line.startswith("data:"))
    return [json.loads(text) for text in data if text.strip()]


def legacy_session(server, path="/mcp", token=""):
    """Opens a session of a legacy client and returns its id."""
    hello = {"protocolVersion": LEGACY, "clientInfo": NAME, "capabilities": {}}
    sent = headers("initialize", token=token, era=LEGACY)
    response, body = post(server, path, message("initialize", hello, LEGACY), sent)
    session = response.getheader("Mcp-Session-Id")
    if response.status != 200 or not session:
        raise RuntimeError(f"{server.name}: no session: HTTP {response.status}: {body[:300]!r}")
    ready = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    post(server, path, ready, headers("", token=token, era=LEGACY, session=session))
    return session


class Admin:
    """One connection to the admin API."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def post(self, path, body=None):
        return self.send("POST", path, body)

    def send(self, method, path, body=None):
        self.connection.request(method, path, json.dumps(body or {}), {"X-Admin-Secret": SECRET})
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        if response.status not in (200, 201):
            raise RuntimeError(f"{path}: HTTP {response.status}: {answer}")
        return answer
