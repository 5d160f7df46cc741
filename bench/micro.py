"""Runs the Google Benchmark programs, whose benchmarks are named <what>/<case>."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

import servers
import table

OUT = servers.ROOT / "build/bench"
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
FEW, MANY = 200, 600  # iterations
REPETITIONS = 5

Times = collections.namedtuple("Times", ("cpu", "real"))  # nanoseconds


def program(name):
    path = servers.ROOT / "build/release/bin" / name
    if not path.exists():
        raise RuntimeError(f"{path} does not exist; scripts/bench.sh builds it")
    return path


def run(bench, name, *options, environment=None):
    """Runs a program and returns the medians by benchmark, and its whole output."""
    command = ["taskset", "-c", str(bench.server_core), program(name), "--benchmark_format=json"]
    command += [f"--benchmark_min_time={bench.seconds / 40:g}", f"--benchmark_repetitions={REPETITIONS}"]
    command += ["--benchmark_report_aggregates_only=true", *options]
    environment = {**os.environ, **(environment or {})}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    raw = json.loads(ran.stdout)
    times = {}
    for entry in raw["benchmarks"]:
        if entry.get("aggregate_name") == "median":
            unit = NANOSECONDS[entry["time_unit"]]
            times[entry["run_name"]] = Times(entry["cpu_time"] * unit, entry["real_time"] * unit)
    return times, {**raw, "said": ran.stderr}


def measure_envelope(bench):
    """Measures the envelope. `tree/<case>`, which parses the same bytes into a tree, is the baseline of each case."""
    times, raw = run(bench, "envelope_bench")
    counts = {name: _instructions(program("envelope_bench"), name) for name in times}
    bench.keep("envelope", {**raw, "instructions": counts})
    if None in counts.values():
        print("skipped: instructions of some benchmarks, see bench/bench.hpp", file=sys.stderr)
    rows = []
    for name in times:
        what, _, case = name.partition("/")
        if what == "tree":
            continue
        other = f"tree/{case}"
        for values, unit in (({n: t.cpu for n, t in times.items()}, "ns"), (counts, "instructions")):
            if values[name] is not None:
                label = f"envelope {what}, {case}" if case else f"envelope {what}"
                baseline = values.get(other)
                rows.append(table.row(label, values[name], baseline, "parse into a tree" if baseline else None, unit))
    return rows


def measure_catalog(bench):
    """Measures a refresh of one upstream of 100 tools, alone and among 1,000 others, and the memory per tool."""
    # Leaves out `publish`, which spends most of its time on untimed preparation.
    times, raw = run(bench, "catalog_bench", "--benchmark_filter=-^publish", environment={"BENCH_MEMORY": "1"})
    bench.keep("catalog", raw)
    rows = []
    for name, time in times.items():
        what, _, case = name.partition("/")
        if case != "among 1000":
            continue
        alone = times.get(f"{what}/alone")
        target = {"at_most": 2.0} if what.startswith("refresh") else {}
        label = f"catalog of 100,000 tools: {what}"
        if alone:
            rows.append(table.row(label, time.cpu / 1e3, alone.cpu / 1e3, "alone", "µs", **target))
        else:
            rows.append(table.row(label, time.cpu / 1e3, unit="µs"))
    memory = re.search(r"memory per tool: (\d+) bytes, of which its text (\d+)", raw["said"])
    if not memory:
        raise RuntimeError(f"catalog_bench reports no memory: {raw['said'][-300:]}")
    label = "catalog of 100,000 tools: resident memory per tool"
    return [*rows, table.row(label, int(memory[1]), int(memory[2]), "its text", "bytes")]


def measure_tokens(bench):
    """Measures new tokens by algorithm, tokens found again, DPoP proofs, and the memory of a verified token."""
    times, raw = run(bench, "auth_bench", environment={"BENCH_MEMORY": "1"})
    bench.keep("tokens", raw)
    labels = {"first sight": "token at first sight", "proof": "DPoP proof", "look-up": "token found again, among"}
    rows = []
    for name, time in times.items():
        what, _, case = name.partition("/")
        rows.append(table.row(f"{labels[what]} {case}", time.cpu / 1e3, unit="µs"))
    memory = re.search(r"memory per verified token: (\d+) bytes, of a token of (\d+)", raw["said"])
    if not memory:
        raise RuntimeError(f"auth_bench reports no memory: {raw['said'][-300:]}")
    label = "100,000 verified tokens: resident memory of one"
    return [*rows, table.row(label, int(memory[1]), int(memory[2]), "the token", "bytes")]


GOALS = {10_000: (250, 1000), 100_000: (3000, None)}  # µs: median and 99th percentile
TOOL_BYTES = 600


def measure_search(bench):
    """SRC-11: measures searches among upstreams of 100 tools each, the memory of indexes, and the cost of a refresh."""
    times, raw = run(bench, "search_bench", environment={"BENCH_MEMORY": "1", "BENCH_LATENCY": "1"})
    bench.keep("search", raw)
    rows = []
    for tools, median, slow in re.findall(r"search among (\d+) tools: p50 ([\d.]+) us, p99 ([\d.]+) us", raw["said"]):
        goals = GOALS.get(int(tools), (None, None))
        for what, value, goal in (("median", median, goals[0]), ("99 of 100", slow, goals[1])):
            label = f"search among {int(tools):,} tools: {what}"
            target = {"at_most": 1.0} if goal else {}
            rows.append(table.row(label, float(value), goal, "the goal" if goal else None, "µs", **target))
    alone, among = times["refresh/alone"], times["refresh/among 1000"]
    label = "search among 100,000 tools: index after a refresh of 100"
    rows.append(table.row(label, among.cpu / 1e3, alone.cpu / 1e3, "among no others", "µs"))
    memory = re.search(r"index memory per tool: (\d+) bytes", raw["said"])
    if not memory or len(rows) != 7:
        raise RuntimeError(f"search_bench reports too little: {raw['said'][-300:]}")
    return [*rows, table.row("search: index per tool", int(memory[1]), TOOL_BYTES, "the goal", "bytes", at_most=1.0)]


def measure_search_quality(bench):
    """SRC-11: compares the ranking of real tools with plain BM25 over name and description."""
    command = [program("search_quality"), servers.ROOT / "bench/search"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    bench.keep("search quality", {"said": text})
    values = {}
    for name, *numbers in re.findall(r"^\| (Proteus|plain BM25) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", text, re.M):
        values[name] = [float(number) for number in numbers]
    labels = ("recall@1", "recall@5", "recall@10", "nDCG@10")
    pairs = zip(labels, values["Proteus"], values["plain BM25"])
    return [table.row(f"search quality: {label}", ours, plain, "plain BM25", at_least=1.0) for label, ours, plain in pairs]


def _instructions(path, name):
    """Returns the instructions of one iteration, counted by valgrind as the difference of two runs; None on failure."""
    if not shutil.which("valgrind"):
        return None
    few, many = _total(path, name, FEW), _total(path, name, MANY)
    if few is None or many is None or many <= few:
        return None
    return (many - few) / (MANY - FEW)


def _total(path, name, iterations):
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    # Not re.escape, which also escapes spaces: Google Benchmark does not accept that escape.
    pattern = re.sub(r"([.*+?^${}()|\[\]\\])", r"\\\1", name)
    command += [path, f"--benchmark_filter=^{pattern}(/iterations:[0-9]+)?$"]
    environment = {**os.environ, "BENCH_ITERATIONS": str(iterations)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([0-9,]+)", ran.stderr)
    if ran.returncode != 0 or not found or f"{name}/iterations:{iterations}" not in ran.stdout:
        return None
    return int(found[1].replace(",", ""))
