"""Measures how soon a gateway serves if none of its upstreams can be reached."""
import http.client
import socket
import statistics
import time

import servers
import table

UPSTREAMS = 1000
LIMIT_MS = 500


def measure(bench):
    listening, healthy = [], []
    # Bound but not listening: connections are refused, and no other process can take the port.
    closed = [socket.socket() for _ in range(UPSTREAMS)]
    try:
        for one in closed:
            one.bind(("127.0.0.1", 0))
        ports = [one.getsockname()[1] for one in closed]
        sections = "\n".join(servers.upstream(f"up{i}", port, must=False) for i, port in enumerate(ports))
        both = f"{bench.server_core},{bench.load_core}"
        for number in range(bench.rounds):
            begin = time.monotonic()
            with servers.gateway(bench, both, sections, threads=0) as gateway:
                listening.append((time.monotonic() - begin) * 1000)
                _ask_health(gateway)
                healthy.append((time.monotonic() - begin) * 1000)
    finally:
        for one in closed:
            one.close()
    name = f"start with {UPSTREAMS:,} upstreams, none reachable"
    bench.keep(name, {"listening_ms": listening, "healthz_ms": healthy})
    return [
        table.limited(f"{name}: to the listening line", statistics.median(listening), LIMIT_MS, "ms"),
        table.limited(f"{name}: to the first answer", statistics.median(healthy), LIMIT_MS, "ms"),
    ]


def _ask_health(gateway):
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=10)
    connection.request("GET", "/healthz")
    status = connection.getresponse().status
    connection.close()
    if status != 200:
        raise RuntimeError(f"/healthz answers {status}")
