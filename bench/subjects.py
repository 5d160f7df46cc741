"""Measures the memory of many callers of an identity provider, while they are active and after they have left.

Their tokens are opaque, so that no token has to be signed. The gateway introspects each, and forgets it after a minute.
"""
import asyncio
import contextlib
import json
import os
import subprocess
import threading
import time

import gateway
import load
import servers
import table

SUBJECTS = 100_000
LONGEST = 30  # seconds for the requests of all callers; the gateway forgets the first after a minute
GIVEN_BACK = 120  # seconds until the memory must be released
KEPT = 0.1  # share of the memory that may remain after that


def measure(bench):
    with contextlib.ExitStack() as stack:
        issuer = stack.enter_context(_Issuer())
        upstream = stack.enter_context(servers.everything(bench, bench.load_core, "--bench", name="upstream"))
        rules = (
            f'[[auth.issuers]]\nissuer = "{issuer.url}"\naudience = ["bench"]\n'
            'introspection = { client_id = "bench", client_secret_env = "BENCH_TOKEN" }\n'
            '[[auth.rules]]\nname = "{sub}"\n'
        )
        ours = stack.enter_context(gateway.through(bench, upstream, before=rules))
        load.answer_of(ours, load.listing(1, token="subject-0"))
        before = ours.resident_bytes()
        _bring_all(bench, ours)
        taken = ours.resident_bytes() - before
        deadline = time.monotonic() + GIVEN_BACK
        kept = taken
        while kept > KEPT * taken and time.monotonic() < deadline:
            time.sleep(2)
            kept = ours.resident_bytes() - before
    name = f"{SUBJECTS:,} callers of an identity provider"
    return [
        table.row(f"{name}: memory per caller", taken / SUBJECTS, unit="bytes"),
        table.limited(f"{name}: kept when they have gone", max(0, kept) / taken, KEPT, "of it"),
    ]


def _bring_all(bench, server):
    what = load.listing(1)
    body = bench.folder / "body.json"
    body.write_bytes(what.body)
    sent = bench.folder / "headers.txt"
    sent.write_text("".join(f"{name}: {value}\n" for name, value in what.headers().items()))
    environment = {
        **os.environ,
        "BENCH_BODY": str(body),
        "BENCH_HEADERS": str(sent),
        "BENCH_SUBJECTS": str(SUBJECTS),
    }
    command = ["taskset", "-c", str(bench.load_core), "wrk", "-t1", "-c16", f"-d{LONGEST}s"]
    command += ["-s", servers.ROOT / "bench/subjects.lua", f"http://127.0.0.1:{server.port}/mcp"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    requests = json.loads(ran.stderr.strip().splitlines()[-1])["requests"]
    if requests < SUBJECTS or "Non-2xx" in ran.stdout:
        raise RuntimeError(f"{requests} of {SUBJECTS} callers came in {LONGEST} s: {ran.stdout}")


class _Introspecting(asyncio.Protocol):
    """The server of an issuer. Requests are small enough to arrive in one piece."""

    url = ""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        if b"/.well-known/" in data.split(b"\r\n", 1)[0]:
            ends = {"introspection_endpoint": f"{self.url}/introspect", "jwks_uri": f"{self.url}/keys"}
            said = {"issuer": self.url, **ends}
        else:
            token = data.rpartition(b"token=")[2].partition(b"&")[0] if data.startswith(b"POST") else b""
            now = int(time.time())
            said = {"active": True, "sub": token.decode(), "aud": "bench", "iat": now, "exp": now + 3600, "keys": []}
        body = json.dumps(said).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)


class _Issuer:
    """An issuer that accepts every token."""

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        serving = self.loop.create_server(_Introspecting, "127.0.0.1", 0)
        self.server = self.loop.run_until_complete(serving)
        self.url = _Introspecting.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
