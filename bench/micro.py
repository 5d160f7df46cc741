"""Time and instructions of the micro benchmarks, as rows for the table.

The program is a Google Benchmark one, whose benchmarks are named <what>/<case>. `tree/<case>`, a parse of the same bytes into a
tree, is the baseline of every other benchmark of that case, and no row of its own.
"""
import json
import os
import re
import shutil
import subprocess
import sys

BASELINE = "tree"
FEW, MANY = 1000, 3000


def measure(program):
    """(rows, raw): rows as arguments of run.row, raw as Google Benchmark wrote it."""
    if not program.exists():
        print(f"skipped: envelope scan and splice, because {program} does not exist", file=sys.stderr)
        return [], None
    command = [program, "--benchmark_format=json", "--benchmark_repetitions=5", "--benchmark_report_aggregates_only=true"]
    raw = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    nanoseconds = {
        entry["run_name"]: entry["cpu_time"] * {"ns": 1, "us": 1e3, "ms": 1e6}[entry["time_unit"]]
        for entry in raw["benchmarks"]
        if entry.get("aggregate_name") == "median"
    }
    counts = {name: instructions(program, name) for name in nanoseconds}
    raw["instructions"] = counts
    if None in counts.values():
        print("skipped: instructions of some benchmarks, see bench/bench.hpp", file=sys.stderr)

    rows = []
    for name in nanoseconds:
        what, _, case = name.partition("/")
        if what == BASELINE:
            continue
        other = f"{BASELINE}/{case}"
        for values, unit in ((nanoseconds, "ns"), (counts, "instructions")):
            if values[name] is not None:
                label = f"envelope {what}, {case}" if case else f"envelope {what}"
                baseline = values.get(other)
                rows.append((label, values[name], baseline, "parse into a tree" if baseline else None, unit))
    return rows, raw


def instructions(program, name):
    """Per iteration, counted by valgrind as the difference of two runs; None where that is not possible."""
    if not shutil.which("valgrind"):
        return None
    few, many = _total(program, name, FEW), _total(program, name, MANY)
    if few is None or many is None or many <= few:
        return None
    return (many - few) / (MANY - FEW)


def _total(program, name, iterations):
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    # Not re.escape, which also escapes spaces; the program's expressions know no such escape.
    pattern = re.sub(r"([.*+?^${}()|\[\]\\])", r"\\\1", name)
    command += [program, f"--benchmark_filter=^{pattern}(/iterations:[0-9]+)?$"]
    environment = {**os.environ, "BENCH_ITERATIONS": str(iterations)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([0-9,]+)", run.stderr)
    if run.returncode != 0 or not found or f"{name}/iterations:{iterations}" not in run.stdout:
        return None
    return int(found[1].replace(",", ""))
