#!/usr/bin/env python3
"""Compares Proteus with nginx, the TypeScript SDK and others, and prints one table.

The results are ratios of medians of interleaved runs, because absolute numbers differ between machines and days. Writes
build/bench/results.json and build/bench/raw.json. docs/benchmarks.md explains the rows.

run.py [WORD]...   runs the sections whose name contains one of the words; BENCH_ONLY holds words separated by commas
run.py --list      prints the names of the sections

BENCH_SECONDS   length of one measurement, 2 by default; rounded to whole seconds for wrk
BENCH_ROUNDS    number of measurements of each kind, 5 by default
BENCH_BESIDE    folder of another build's programs, to compare calls with it
"""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

import beside
import cluster
import cluster_sessions
import contexts
import datasets
import eras
import gateway
import grants
import identity
import load
import micro
import plain
import proofs
import sessions
import startup
import streams
import subjects
import table

SECTIONS = {
    "server call": plain.measure_call,
    "server list": plain.measure_list,
    "envelope": micro.measure_envelope,
    "gateway call 1 KB": gateway.measure_call,
    "gateway call 64 KB": gateway.measure_large_call,
    "gateway call SSE": gateway.measure_streamed_call,
    "gateway list": gateway.measure_list,
    "gateway cached and direct": gateway.measure_strategies,
    "gateway from npm": gateway.measure_npm,
    "catalog": micro.measure_catalog,
    "tokens": micro.measure_tokens,
    "tokens with proofs": proofs.measure,
    "tokens of many": subjects.measure,
    "search": micro.measure_search,
    "search quality": micro.measure_search_quality,
    "streams": streams.measure,
    "startup": startup.measure,
    "eras": eras.measure,
    "sessions call": sessions.measure_calls,
    "sessions notification": sessions.measure_notifications,
    "sessions registration": sessions.measure_registrations,
    "datasets workup": datasets.measure_workup,
    "datasets connect": datasets.measure_connecting,
    "contexts": contexts.measure,
    "identity": identity.measure,
    "grants": grants.measure,
    "cluster call": cluster.measure_call,
    "cluster registrations": cluster.measure_registrations,
    "cluster announcements": cluster.measure_announcements,
    "cluster sessions call": cluster_sessions.measure,
    "cluster sessions in Redis": cluster_sessions.measure_commands,
    "cluster sessions resumption": cluster_sessions.measure_resumption,
    "beside another build": beside.measure,
}


QUIET = 0.05  # share of a core that other processes may use


class Bench:
    """The settings of a run, its temporary folder, and all samples."""

    def __init__(self, folder):
        self.seconds = float(os.environ.get("BENCH_SECONDS", 2))
        self.rounds = int(os.environ.get("BENCH_ROUNDS", 5))
        self.folder = pathlib.Path(folder)
        self.places = 0
        self.raw = {}
        self.others = []
        available = sorted(os.sched_getaffinity(0))
        if len(available) < 2:
            print("warning: one core only; the servers and the load generator share it", file=sys.stderr)
        self.server_core, self.load_core = available[-1], available[0]

    def place(self, name):
        """Makes a new folder."""
        self.places += 1
        made = self.folder / f"{self.places}-{name.replace(' ', '-')}"
        made.mkdir()
        return made

    def disturbed(self, others):
        """Records the share of a measurement in which the core under test worked for other processes."""
        self.others.append(others)

    def warning(self):
        usual = statistics.median(self.others or [0])
        if usual <= QUIET:
            return None
        return f"warning: others used {usual:.0%} of the core under test, in the median: these results are unreliable"

    def keep(self, name, sample):
        self.raw.setdefault(name, []).append(sample)

    def settings(self):
        return {
            "seconds": self.seconds,
            "rounds": self.rounds,
            "connections": load.CONNECTIONS,
            "machine": os.uname().machine,
        }


def chosen(words):
    return [name for name in SECTIONS if not words or any(word.lower() in name.lower() for word in words)]


def measure(bench, names):
    """Runs the sections and returns all rows, and the failures."""
    rows, failures = [], []
    for number, name in enumerate(names):
        begin = time.monotonic()
        print(f"[{number + 1}/{len(names)}] {name}", end="", file=sys.stderr, flush=True)
        try:
            rows += SECTIONS[name](bench)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", None) or ""
            failures.append(f"{name}: {error} {said.decode() if isinstance(said, bytes) else said}".strip())
        except Exception:  # a bug in one section must not lose the measurements of the others
            failures.append(f"{name}: {traceback.format_exc().strip()}")
        except KeyboardInterrupt:
            failures += [f"{left}: interrupted" for left in names[number:]]
            break
        print(f": {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return rows, failures


def main(arguments):
    if "--list" in arguments:
        print("\n".join(SECTIONS))
        return 0
    words = arguments or [word for word in os.environ.get("BENCH_ONLY", "").split(",") if word]
    names = chosen(words)
    if not names:
        sys.exit(f"error: no such section; the sections are {', '.join(SECTIONS)}")
    micro.OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="proteus-bench-") as folder:
        bench = Bench(folder)
        rows, failures = measure(bench, names)
    print()
    table.show(rows)
    if bench.warning():
        print(f"\n{bench.warning()}")
    for failure in failures:
        print(f"\nnot measured: {failure}")
    (micro.OUT / "results.json").write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    raw = {"settings": bench.settings(), "warning": bench.warning(), "samples": bench.raw, "failures": failures}
    (micro.OUT / "raw.json").write_text(json.dumps(raw, indent=2, ensure_ascii=False) + "\n")
    print("\nwritten to build/bench/results.json and raw.json")
    return 1 if failures else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stops what was started and prints what was measured
    sys.exit(main(sys.argv[1:]))
