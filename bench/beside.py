"""Compares this build with another one, such as that of an older commit, by the same calls in turn.

BENCH_BESIDE is the folder of the other build's programs; without it nothing is measured.
"""
import contextlib
import os
import statistics

import gateway
import load
import servers
import table

ROUNDS = 21
TARGET = 1.0  # of the other build's CPU time
WAYS = {"cached": (), "direct_proxy": (gateway.DIRECT,)}


def measure(bench):
    other = os.environ.get("BENCH_BESIDE")
    if not other:
        return []
    rows = []
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(servers.everything(bench, bench.load_core, "--bench", name="upstream"))
        what = load.call("up_bench_1k", token=gateway.TOKEN)
        for way, keys in WAYS.items():
            name = f"tools/call, 1 KB, {way}, beside another build"
            ours = stack.enter_context(gateway.through(bench, upstream, *keys, name="this"))
            theirs = stack.enter_context(gateway.through(bench, upstream, *keys, name="other", programs=other))
            pair = {"this": (ours, what), "other": (theirs, what)}
            load.in_turn(bench, name, pair, rounds=max(ROUNDS, bench.rounds))
            rows.append(_paired(name, bench.raw[name]))
    return rows


def _paired(name, samples):
    """Returns the row of the median ratio of adjacent measurements, which a slow drift does not affect."""
    cpu = {label: [s["cpu_us"] for s in samples if s["server"] == label] for label in ("this", "other")}
    ratio = statistics.median(ours / theirs for ours, theirs in zip(cpu["this"], cpu["other"]))
    theirs = statistics.median(cpu["other"])
    return table.row(f"{name}: CPU per request", ratio * theirs, theirs, "other build", "µs", at_most=TARGET)
