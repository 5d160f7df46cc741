#!/usr/bin/env python3
"""Measures our server against nginx and the TypeScript SDK, and the envelope scanner against a parse of the whole.

Everything runs in one go, interleaved, and what counts are ratios of medians: absolute numbers differ between machines and
between days. Writes build/bench/results.json and build/bench/raw.json.

BENCH_SECONDS   of one measurement, 4 by default
BENCH_ROUNDS    of all of them, 5 by default
"""
import http.client
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

import contexts
import micro
import servers
import sessions

OUT = servers.ROOT / "build/bench"
SECONDS = float(os.environ.get("BENCH_SECONDS", 4))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", 5))
CONNECTIONS = 16
TOOLS = 1000

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0.0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
TEXT = ("the quick brown fox jumps over the lazy dog, " * 23)[:1000]


class Load:
    """One kind of request: what is sent, and what a right answer has."""

    def __init__(self, row, method, name, params, tools, check):
        self.row = row
        self.method = method
        self.name = name
        self.tools = tools
        self.check = check
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
        self.body = json.dumps(message, separators=(",", ":")).encode()

    def headers(self):
        named = {"Mcp-Name": self.name} if self.name else {}
        return {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": self.method,
            **named,
        }


def echoes(result):
    text = result["content"][0]["text"]
    assert len(text) >= len(TEXT), f"an answer of {len(text)} characters"


def lists(result):
    assert len(result["tools"]) >= TOOLS, f"{len(result['tools'])} tools"


LOADS = [
    Load("tools/call, 1 KB", "tools/call", "bench_1k", {"name": "bench_1k", "arguments": {"text": TEXT}}, 0, echoes),
    Load(f"tools/list, {TOOLS} tools", "tools/list", "", {}, TOOLS, lists),
]


def answer_of(server, load, path="/mcp"):
    """One answer's body, after making sure that it is right."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("POST", path, load.body, load.headers())
    response = connection.getresponse()
    body = response.read()
    connection.close()
    where = f"{server.name}, {load.row}"
    if response.status != 200:
        raise RuntimeError(f"{where}: HTTP {response.status}: {body[:300]!r}")
    text = body.decode()
    if response.getheader("Content-Type", "").startswith("text/event-stream"):
        text = "".join(line[5:] for line in text.splitlines() if line.startswith("data:"))
    message = json.loads(text)
    try:
        load.check(message["result"])
    except (KeyError, AssertionError) as fault:
        raise RuntimeError(f"{where}: a wrong answer ({fault!r}): {text[:300]}") from None
    return body


def run_load(server, load, seconds, core, folder, path="/mcp"):
    """Throughput, and CPU time per request of the server and of the load generator."""
    body = folder / "body.json"
    body.write_bytes(load.body)
    environment = {**os.environ, "BENCH_BODY": str(body), "BENCH_METHOD": load.method, "BENCH_NAME": load.name}
    environment["BENCH_TOKEN"] = getattr(load, "token", "")
    command = ["taskset", "-c", str(core), "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:g}s", "--timeout=60s"]
    command += ["-s", str(servers.ROOT / "bench/load.lua"), f"http://127.0.0.1:{server.port}{path}"]
    before, generator = server.cpu_seconds(), _children_cpu()
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    spent, generator = server.cpu_seconds() - before, _children_cpu() - generator
    server.settle()
    result = json.loads(run.stderr.strip().splitlines()[-1])
    if result["requests"] == 0 and seconds < 10 * SECONDS:
        return run_load(server, load, 4 * seconds, core, folder, path)
    if result["errors"] or not result["requests"]:
        raise RuntimeError(f"{server.name}, {load.row}: {result}\n{run.stdout}")
    requests = result["requests"]
    return {
        **result,
        "throughput": requests / result["seconds"],
        "cpu_us": spent / requests * 1e6,
        "generator_cpu_us": generator / requests * 1e6,
    }


def _children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cores():
    available = sorted(os.sched_getaffinity(0))
    if len(available) < 2:
        print("warning: one core only; the servers and the load generator share it", file=sys.stderr)
    return available[-1], available[0]


def measure_servers(folder, raw):
    server_core, load_core = cores()
    pairs = []
    running = []
    try:
        for load in LOADS:
            # Nothing may be left for nginx to do but to send our own bytes.
            ours = servers.proteus(load.tools, server_core, folder)
            running.append(ours)
            answer = answer_of(ours, load)
            theirs = servers.nginx(answer, server_core, folder / f"nginx-{load.tools}")
            running.append(theirs)
            if answer_of(theirs, load) != answer:
                raise RuntimeError(f"nginx, {load.row}: not the same bytes")
            sdk = servers.typescript(load.tools, server_core, folder)
            running.append(sdk)
            answer_of(sdk, load)
            pairs += [(load, server) for server in (ours, theirs, sdk)]
            print(f"{load.row}: {len(load.body)} bytes asked, {len(answer)} answered", file=sys.stderr)

        for load, server in pairs:
            run_load(server, load, min(1, SECONDS), load_core, folder)
        for number in range(ROUNDS):
            print(f"round {number + 1} of {ROUNDS}", file=sys.stderr)
            # There and back, so that a drift of the machine does not favour the first.
            for load, server in pairs if number % 2 == 0 else reversed(pairs):
                sample = run_load(server, load, SECONDS, load_core, folder)
                raw.append({"row": load.row, "server": server.name, "round": number + 1, **sample})
    finally:
        for server in running:
            server.stop()


def server_rows(raw):
    def median(row, server, key):
        return statistics.median(s[key] for s in raw if s["row"] == row and s["server"] == server)

    rows = []
    for load in LOADS:
        for baseline in ("nginx", "typescript-sdk-v2"):
            for key, what, unit in (("throughput", "throughput", "requests/s"), ("cpu_us", "CPU per request", "µs")):
                ours, theirs = median(load.row, "proteus", key), median(load.row, baseline, key)
                rows.append(row(f"{load.row}: {what}", ours, theirs, baseline, unit))
    return rows


def row(name, ours, baseline, baseline_name, unit):
    ratio = round(ours / baseline, 3) if baseline else None
    return {
        "row": name,
        "proteus": round(ours, 3),
        "baseline": round(baseline, 3) if baseline else None,
        "baseline_name": baseline_name,
        "unit": unit,
        "ratio": ratio,
    }


def print_table(rows):
    def number(value):
        return "-" if value is None else f"{value:,.2f}" if value < 1000 else f"{value:,.0f}"

    table = [("", "proteus", "baseline", "", "unit", "ratio")]
    for r in rows:
        ratio = "-" if r["ratio"] is None else f"{r['ratio']:.2f}"
        table.append((r["row"], number(r["proteus"]), number(r["baseline"]), r["baseline_name"] or "", r["unit"], ratio))
    widths = [max(len(line[column]) for line in table) for column in range(6)]
    right = {1, 2, 5}
    print()
    for line in table:
        cells = (c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths)))
        print("  ".join(cells).rstrip())


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    raw = []
    with tempfile.TemporaryDirectory(prefix="proteus-bench-") as folder:
        measure_servers(pathlib.Path(folder), raw)
        home = pathlib.Path(folder) / "contexts"
        (home / "upstream").mkdir(parents=True)
        listing = LOADS[1]
        of_contexts = contexts.measure(listing, run_load, answer_of, cores(), (SECONDS, ROUNDS), home, raw)
        of_contexts = [row(*r) for r in of_contexts]
        session_rows, session_raw = sessions.measure(run_load, cores(), SECONDS, ROUNDS, pathlib.Path(folder))
    rows = server_rows(raw) + of_contexts + [row(*r) for r in session_rows]
    micro_rows, micro_raw = micro.measure(OUT / "bin/envelope_bench")
    rows += [row(*r) for r in micro_rows]
    settings = {"seconds": SECONDS, "rounds": ROUNDS, "connections": CONNECTIONS, "machine": os.uname().machine}
    (OUT / "results.json").write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    (OUT / "raw.json").write_text(json.dumps({"settings": settings, "servers": raw, "sessions": session_raw, "envelope": micro_raw}, indent=2) + "\n")
    print_table(rows)
    print(f"\nwritten to {OUT.relative_to(servers.ROOT)}/results.json and raw.json")


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}\n{getattr(error, 'stderr', '') or ''}")
