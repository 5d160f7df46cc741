"""Loads, and their measurement with wrk: servers take turns, so that a drift of the machine favours none of them."""
import json
import os
import resource
import statistics
import subprocess
import time

import client
import servers

CONNECTIONS = 16
TOOLS = 1000
LONGEST = 30  # seconds, for a server that needs this long for its first answer
LOREM = "the quick brown fox jumps over the lazy dog, "


def text(size):
    return (LOREM * (size // len(LOREM) + 1))[:size]


class Load:
    """One kind of request, and the check of its answer."""

    def __init__(self, method, name="", params=None, check=None, **more):
        self.method = method
        self.name = name
        self.check = check
        self.token = more.get("token", "")
        self.era = more.get("era", client.MODERN)
        self.session = more.get("session", "")
        self.path = more.get("path", "/mcp")
        self.ids = more.get("ids", 1)
        self.streamed = more.get("streamed", False)
        self.body = more.get("body") or client.message(method, params or {}, self.era, more.get("meta"))

    def headers(self):
        return client.headers(self.method, self.name, self.token, self.era, self.session)


def call(name="bench_1k", size=1000, **more):
    """Returns the load of a call whose answer repeats its text."""

    def echoes(result):
        answered = result["content"][0]["text"]
        assert len(answered) >= size, f"an answer of {len(answered)} characters"

    return Load("tools/call", name, {"name": name, "arguments": {"text": text(size)}}, echoes, **more)


def listing(tools=TOOLS, **more):
    def lists(result):
        assert len(result["tools"]) >= tools, f"{len(result['tools'])} tools"
        assert "nextCursor" not in result, "not the whole list"

    return Load("tools/list", "", {}, lists, **more)


def answer_of(server, load):
    """Sends one request and returns the body of the answer. Raises if the answer is wrong."""
    response, body = client.post(server, load.path, load.body, load.headers())
    where = f"{server.name}, {load.method} {load.name}"
    if response.status != 200:
        raise RuntimeError(f"{where}: HTTP {response.status}: {body[:300]!r}")
    is_stream = response.getheader("Content-Type", "").startswith("text/event-stream")
    messages = client.events(body) if is_stream else [json.loads(body)]
    if load.streamed and (not is_stream or len(messages) < 2):
        raise RuntimeError(f"{where}: not a stream of events: {body[:300]!r}")
    if not load.check:
        return body
    try:
        load.check(messages[-1]["result"])
    except (KeyError, AssertionError) as fault:
        raise RuntimeError(f"{where}: a wrong answer ({fault!r}): {body[:300]!r}") from None
    return body


def run(bench, server, load, seconds=None):
    """Takes one measurement: throughput, and CPU time per request of the server and of the load generator."""
    seconds = max(1, round(seconds or bench.seconds))  # wrk accepts only whole seconds
    body = bench.folder / "body.json"
    body.write_bytes(load.body)
    sent = bench.folder / "headers.txt"
    sent.write_text("".join(f"{name}: {value}\n" for name, value in load.headers().items()))
    command = ["taskset", "-c", str(bench.load_core), "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s"]
    command += ["--timeout=60s", "-s", servers.ROOT / "bench/load.lua", f"http://127.0.0.1:{server.port}{load.path}"]
    begin = time.monotonic()
    before, generator, busy = server.cpu_seconds(), _children_cpu(), servers.busy_seconds(bench.server_core)
    environment = {**os.environ, "BENCH_BODY": str(body), "BENCH_HEADERS": str(sent), "BENCH_IDS": str(load.ids)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    spent, generator = server.cpu_seconds() - before, _children_cpu() - generator
    others = (servers.busy_seconds(bench.server_core) - busy - spent) / (time.monotonic() - begin)
    server.settle()
    result = json.loads(ran.stderr.strip().splitlines()[-1])
    requests = result["requests"]
    if requests == 0 and seconds < LONGEST:
        return run(bench, server, load, 4 * seconds)
    if result["errors"] or not requests:
        raise RuntimeError(f"{server.name}, {load.method}: {result}\n{ran.stdout}")
    return {
        **result,
        "throughput": requests / result["seconds"],
        "cpu_us": spent / requests * 1e6,
        "generator_cpu_us": generator / requests * 1e6,
        "others": max(0.0, others),
    }


def in_turn(bench, name, pairs, rounds=None):
    """Measures labelled pairs of a server and a load in turn, and returns the medians by label."""
    sizes = {label: len(answer_of(server, load)) for label, (server, load) in pairs.items()}
    for server, load in pairs.values():
        run(bench, server, load, 1)
    samples = {label: [] for label in pairs}
    for number in range(rounds or bench.rounds):
        turn = list(pairs.items())
        for label, (server, load) in turn if number % 2 == 0 else reversed(turn):
            sample = run(bench, server, load)
            # wrk checks only the status, but a JSON-RPC error may have status 200.
            if sample["bytes"] < sample["requests"] * sizes[label]:
                raise RuntimeError(f"{label}, {name}: answers shorter than the right one")
            samples[label].append(sample)
            bench.disturbed(sample["others"])
            bench.keep(name, {"server": label, "round": number + 1, **sample})
    return {
        label: {key: statistics.median(sample[key] for sample in taken) for key in ("throughput", "cpu_us")}
        for label, taken in samples.items()
    }


def _children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
