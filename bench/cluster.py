"""Measures processes that share a PostgreSQL.

- Instructions of a call with and without `[cluster]`, which must be almost the same.
- Registrations per second through PostgreSQL with fsync on, compared with SQLite, and with pgbench, which inserts rows
  of the same width into tables of the same shape and does nothing else.
- How soon a client of one process receives a change that another process acknowledged.
"""
import contextlib
import functools
import json
import os
import re
import statistics
import subprocess
import time

import client
import gateway
import instructions
import listener
import load
import postgres
import servers
import sessions
import table

CALL_AT_MOST = 1.005
WRITERS = (1, 64)
CHANGES = 100
CLUSTER = "[cluster]\n"


def shared(database):
    """Returns the environment of a process of a cluster."""
    return {"PROTEUS_STORE": database.url, "PROTEUS_PEPPER": "a pepper that is long enough for the bench"}


def measure_call(bench):
    name = "tools/call, 1 KB, with [cluster]"
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(postgres.Postgres(bench, bench.load_core))
        upstream = stack.enter_context(servers.everything(bench, bench.load_core, "--bench", name="upstream"))
        starts = {
            "shared": functools.partial(
                gateway.through, bench, upstream, name="shared", before=CLUSTER, environment=shared(database)
            ),
            "alone": functools.partial(gateway.through, bench, upstream, name="alone"),
        }
        what = load.call("up_bench_1k", token=gateway.TOKEN)
        counts = {label: instructions.of_calls_and_idling(bench, start, what) for label, start in starts.items()}
    if None in counts.values():
        return []
    bench.keep(name, counts)
    call = {label: count["call"] for label, count in counts.items()}
    idle = {label: count["idle"] for label, count in counts.items()}
    return [
        table.exact(f"{name}: instructions", call["shared"], call["alone"], "without", "instructions", CALL_AT_MOST),
        table.row("a process with [cluster] that idles", idle["shared"], idle["alone"], "without", "instructions/s"),
    ]


# The rows that a registration writes, in tables like ours, without the feed.
TABLES = """
CREATE SCHEMA bare;
CREATE TABLE bare.sessions (id bytea PRIMARY KEY, user_id bytea NOT NULL, secrets bytea, context bytea NOT NULL,
  catalog bytea NOT NULL, created_at bigint NOT NULL, last_used_at bigint NOT NULL, version bigint NOT NULL);
CREATE TABLE bare.tools (session bytea NOT NULL, name bytea NOT NULL, definition bytea NOT NULL, secrets bytea,
  version bigint NOT NULL, PRIMARY KEY (session, name));
CREATE TABLE bare.hashes (hash bytea PRIMARY KEY, owner bytea NOT NULL, sealed bytea NOT NULL);
CREATE INDEX ON bare.hashes (owner);
CREATE SEQUENCE bare.numbers;
"""
INSERTS = r"""
BEGIN;
INSERT INTO bare.sessions SELECT convert_to('s' || n, 'UTF8'), '7', repeat('x', {session_secrets})::bytea, '', '', n, n, n
  FROM (SELECT nextval('bare.numbers') AS n) one;
INSERT INTO bare.hashes SELECT sha256(convert_to('s' || n, 'UTF8')), convert_to('s' || n, 'UTF8'), repeat('x', {hash})::bytea
  FROM (SELECT currval('bare.numbers') AS n) one;
INSERT INTO bare.tools SELECT convert_to('s' || n, 'UTF8'), 'run_query', repeat('x', {definition})::bytea,
  repeat('x', {tool_secrets})::bytea, n FROM (SELECT currval('bare.numbers') AS n) one;
COMMIT;
"""
WIDTHS = """
SELECT avg(length(secrets))::int FROM proteus.tool_sessions;
SELECT avg(length(sealed))::int FROM proteus.token_hashes;
SELECT avg(length(definition))::int FROM proteus.session_tools;
SELECT avg(length(secrets))::int FROM proteus.session_tools;
"""


def measure_registrations(bench):
    """Measures in turn: registrations through PostgreSQL, registrations through SQLite, and bare inserts."""
    url = "http://127.0.0.1:9/"
    body = bench.folder / "registration.json"
    whole = sessions.registration("NUMBER", url, 0)
    body.write_text(json.dumps({**whole, "tools": [sessions.tool("run_query", url)]}))
    rows = []
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(postgres.Postgres(bench, None))
        shares = stack.enter_context(
            servers.gateway(bench, bench.server_core, CLUSTER, environment=shared(database))
        )
        _register(bench, shares, body, 4, "warm-", 1)
        script = bench.place("pgbench") / "inserts.sql"
        names = ("session_secrets", "hash", "definition", "tool_secrets")
        widths = dict(zip(names, map(int, database.sql(WIDTHS).split())))
        script.write_text(INSERTS.format(**widths))
        script.parent.chmod(0o755)
        database.sql(TABLES)
        bench.keep("cluster registrations: widths", widths)
        for writers in WRITERS:
            name = f"registrations through PostgreSQL, {writers} writer{'s' if writers > 1 else ''}"
            samples = {label: [] for label in ("PostgreSQL", "SQLite", "pgbench")}
            for number in range(bench.rounds):
                prefix = f"{writers}-{number}-"
                samples["PostgreSQL"].append(_register(bench, shares, body, writers, prefix, None))
                samples["SQLite"].append(_register_embedded(bench, body, writers, prefix))
                samples["pgbench"].append(_insert(bench, database, script, writers))
            bench.keep(name, samples)
            medians = {label: statistics.median(taken) for label, taken in samples.items()}
            for baseline in ("SQLite", "pgbench"):
                words = {"SQLite": "SQLite", "pgbench": "pgbench, the bare inserts"}[baseline]
                rows.append(table.row(name, medians["PostgreSQL"], medians[baseline], words, "registrations/s"))
    return rows


def _register_embedded(bench, body, writers, prefix):
    """Starts a new gateway, because the sessions of all runs together exceed the limit of one gateway."""
    with servers.gateway(bench, bench.server_core, "") as server:
        _register(bench, server, body, 4, "warm-", 1)
        return _register(bench, server, body, writers, prefix, None)


def _register(bench, server, body, writers, prefix, seconds):
    seconds = max(1, round(seconds or bench.seconds))
    command = ["taskset", "-c", str(bench.load_core), "wrk", "-t1", f"-c{writers}", f"-d{seconds}s", "--timeout=60s"]
    command += ["-s", servers.ROOT / "bench/registrations.lua", f"http://127.0.0.1:{server.port}/admin/tools/register"]
    environment = {**os.environ, "BENCH_BODY": str(body), "BENCH_PREFIX": prefix, "BENCH_SECRET": client.SECRET}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    result = json.loads(ran.stderr.strip().splitlines()[-1])
    if result["errors"] or not result["requests"]:
        raise RuntimeError(f"registrations: {result}\n{ran.stdout}")
    return result["requests"] / result["seconds"]


def _insert(bench, database, script, writers):
    seconds = max(1, round(bench.seconds))
    options = ("-n", "-h", database.folder, "-U", "postgres", "-c", writers, "-j", 1, "-T", seconds, "-f", script)
    said = database.run("pgbench", *options, "postgres", core=bench.load_core)
    found = re.search(r"tps = ([0-9.]+)", said)
    if not found:
        raise RuntimeError(f"pgbench did nothing: {said}")
    return float(found[1])


def measure_announcements(bench):
    """Measures the time from a request at one process, and from its answer, to the notification at another process."""
    name = "from the answer of one process to list-changed at another"
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(postgres.Postgres(bench, None))
        upstream = stack.enter_context(servers.everything(bench, bench.load_core, name="upstream"))
        one, other = (
            stack.enter_context(servers.gateway(bench, bench.server_core, CLUSTER, environment=shared(database)))
            for _ in range(2)
        )
        admin = client.Admin(one)
        address = f"http://127.0.0.1:{upstream.port}/mcp"
        admin.post("/admin/upstreams", {"name": "up", "url": address, "fail_fast_on_startup": False})

        # A new prefix changes all names at once, without a request to the upstream.
        def rename(number):
            admin.send("PATCH", "/admin/upstreams/up", {"prefix": f"p{number}_"})

        with listener.Listener(other) as told:
            samples = [_announced(told, rename, number) for number in range(CHANGES)]
    rows = []
    for what, label in (("request", "from the request at one process to list-changed at another"), ("answer", name)):
        taken = sorted(sample[what] for sample in samples)
        bench.keep(label, {"ms": taken})
        rows.append(table.row(f"{label}: p50", statistics.median(taken), unit="ms"))
        rows.append(table.row(f"{label}: p99", taken[-(-len(taken) * 99 // 100) - 1], unit="ms"))
    return rows


def _announced(told, act, number):
    """Returns milliseconds to the notification, which may arrive before the answer: that waits for all processes."""
    listener.pause()
    begin = time.monotonic()
    act(number)
    answered = time.monotonic()
    heard = told.heard()
    return {"request": (heard - begin) * 1000, "answer": (heard - answered) * 1000}
