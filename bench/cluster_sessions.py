"""Measures legacy sessions in a cluster.

- The cost of a call at the session's process and at another process, compared with a gateway without a cluster.
- The Redis commands of a call.
- How soon a stream resumes at another process after its process was killed.
"""
import contextlib
import functools
import http.client
import random
import statistics
import time

import client
import cluster
import instructions
import load
import postgres
import redis_server
import servers
import table

OWNER_AT_MOST = 1.02
ELSEWHERE_AT_MOST = 2.2
CALLS = 1000  # while Redis commands are counted
KILLS = 40
SETTLE = 1  # seconds until Redis has received everything
RETRY = 0.05  # seconds before a refused client retries
PATIENCE = 30
MEMBER = '[cluster]\npeer_listen = "127.0.0.1:0"\n'


class Together:
    """Two processes that both work on one request, which is sent to the first."""

    def __init__(self, first, second):
        self.name, self.port, self.servers = first.name, first.port, (first, second)

    def cpu_seconds(self):
        return sum(server.cpu_seconds() for server in self.servers)

    def settle(self):
        for server in self.servers:
            server.settle()


class Surroundings:
    """A database, a Redis, an upstream, and functions that start a gateway with them."""

    def __init__(self, bench, stack):
        database = stack.enter_context(postgres.Postgres(bench, bench.load_core))
        self.redis = stack.enter_context(redis_server.Redis(bench, bench.load_core))
        fixture = servers.everything(bench, bench.load_core, "--bench", "--era", "legacy", name="upstream")
        upstream = servers.upstream("up", stack.enter_context(fixture).port, 'prefix = ""')
        self.alone = functools.partial(servers.gateway, bench, bench.server_core, upstream)
        shared = {**cluster.shared(database), "PROTEUS_REDIS": self.redis.url}
        self.member = functools.partial(
            servers.gateway, bench, bench.server_core, upstream + MEMBER, environment=shared
        )


def measure(bench):
    with contextlib.ExitStack() as stack:
        around = Surroundings(bench, stack)
        starts = (("alone", around.alone), ("owner", around.member))
        counts = {label: _instructions(bench, start) for label, start in starts}
        without = stack.enter_context(around.alone(name="alone"))
        owner = stack.enter_context(around.member(name="owner"))
        other = stack.enter_context(around.member(name="other"))
        session = client.legacy_session(owner)
        pairs = {
            "one process": (without, _call(client.legacy_session(without))),
            "owner": (owner, _call(session)),
            "elsewhere": (Together(other, owner), _call(session)),
        }
        medians = load.in_turn(bench, "tools/call in a cluster", pairs)
    name = "tools/call of a legacy client in a cluster"
    rows = table.compared(f"{name}, at its process", medians, "owner", "one process")
    rows += table.compared(
        f"{name}, at another process", medians, "elsewhere", "one process", cpu_at_most=ELSEWHERE_AT_MOST
    )
    if None not in counts.values():
        bench.keep(f"{name}: instructions", counts)
        calls = {label: count["call"] for label, count in counts.items()}
        label = f"{name}, at its process: instructions"
        row = table.exact(label, calls["owner"], calls["alone"], "one process", "instructions", OWNER_AT_MOST)
        rows.append(row)
    return rows


def _call(session, tool="bench_1k", **more):
    return load.call(tool, era=client.LEGACY, ids=1000, session=session, **more)


class _Begun:
    """Starts a server and opens a session there. Is also the load, whose calls belong to that session."""

    def __init__(self, start):
        self.start = start
        self.what = _call("")
        self.path, self.body = self.what.path, self.what.body

    def __call__(self, **more):
        server = self.start(**more)
        self.what.session = client.legacy_session(server)
        return server

    def headers(self):
        return self.what.headers()


def _instructions(bench, start):
    begun = _Begun(start)
    return instructions.of_calls_and_idling(bench, begun, begun)


def measure_commands(bench):
    """Measures the Redis commands of one call, as Redis counts them."""
    rows = []
    with contextlib.ExitStack() as stack:
        around = Surroundings(bench, stack)
        owner = stack.enter_context(around.member(name="owner"))
        other = stack.enter_context(around.member(name="other"))
        session = client.legacy_session(owner)
        streamed = _call(session, "bench_progress", meta={"progressToken": 1}, streamed=True)
        cases = {
            "with a JSON answer, at its process": (owner, _call(session)),
            "with a JSON answer, at another process": (other, _call(session)),
            "with events, which are kept": (owner, streamed),
        }
        for case, (server, what) in cases.items():
            name = f"commands of Redis for a call {case}"
            events = len(client.events(load.answer_of(server, what)))  # this call opens the session at the upstream
            counted = _commands(around.redis, server, what)
            bench.keep(name, {"calls": CALLS, "events of each": events, "commands": counted})
            made = sum(counted.values()) / CALLS
            rows.append(table.row(name, made, unit="commands") if what.streamed else table.none(name, made, "commands"))
    return rows


def _commands(redis, server, what):
    time.sleep(SETTLE)  # the gateway does not wait for Redis
    before = redis.commands()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    client.repeat(connection, what, CALLS)
    connection.close()
    time.sleep(SETTLE)
    return {name: calls - before.get(name, 0) for name, calls in redis.commands().items() if calls > before.get(name, 0)}


def measure_resumption(bench):
    """Measures the time from SIGKILL, and from the client's first attempt, to the first event that the client missed.

    A client sends a call and disconnects after the first event of the answer. The gateway keeps the other events. Its
    process is killed, and the client retries at another process until it is served.
    """
    samples = []
    with contextlib.ExitStack() as stack:
        around = Surroundings(bench, stack)
        stays = stack.enter_context(around.member(name="stays"))
        for _ in range(KILLS):
            with around.member(name="killed") as killed:
                samples.append(_resume(around.redis, stays, killed))
                bench.keep("resumption after a kill, ms", samples[-1])
    rows = []
    labels = {
        "kill": "from the SIGKILL of its process to the first event that a client missed",
        "first": "from the client's first try to that event",
        "last": "from the try that was served to that event",
    }
    for what, label in labels.items():
        taken = sorted(sample[what] for sample in samples)
        rows.append(table.row(f"{label}: p50", statistics.median(taken), unit="ms"))
        rows.append(table.row(f"{label}: p99", taken[-(-len(taken) * 99 // 100) - 1], unit="ms"))
    return rows


def _resume(redis, stays, killed):
    session = client.legacy_session(killed)
    last = _first_event(killed, _call(session, "bench_progress", meta={"progressToken": 1}))
    # The first event of the stream, the progress and the answer.
    _until(lambda: any(count >= 3 for count in redis.kept().values()), "the events are not kept")
    time.sleep(random.random())  # so that the kill falls anywhere between two heartbeats
    began = time.monotonic()
    killed.process.kill()
    killed.process.wait()
    first = tried = time.monotonic()
    headers = {**client.headers("", era=client.LEGACY, session=session), "Last-Event-ID": last}
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", stays.port, timeout=PATIENCE)
        connection.request("GET", "/mcp", headers=headers)
        answer = connection.getresponse()
        if answer.status == 200:
            break
        said = answer.read()
        connection.close()
        if answer.status != 503 or time.monotonic() - first > PATIENCE:
            raise RuntimeError(f"a stream is not resumed: HTTP {answer.status}: {said[:300]!r}")
        time.sleep(RETRY)
        tried = time.monotonic()
    while not (line := answer.readline()).startswith(b"data: {"):
        if not line:
            raise RuntimeError("the stream that was resumed has nothing in it")
    heard = time.monotonic()
    connection.close()
    redis.ask("flushall")
    return {name: (heard - since) * 1000 for name, since in (("kill", began), ("first", first), ("last", tried))}


def _first_event(server, what):
    """Sends a load, and returns the id of the first event of the answer. Disconnects without reading more."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("POST", what.path, what.body, what.headers())
    answer = connection.getresponse()
    while not (line := answer.readline()).startswith(b"id: "):
        if not line:
            raise RuntimeError(f"{server.name}: HTTP {answer.status}, no event")
    connection.close()
    return line[4:].decode().strip()


def _until(holds, otherwise):
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise RuntimeError(otherwise)
        time.sleep(0.02)
