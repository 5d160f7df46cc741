"""Compares a workup with its bare SQL statements, and measures how soon a client is notified of a dataset."""
import os
import statistics
import subprocess
import sys
import time

import client
import listener
import micro
import servers
import table

QUICKSTART = servers.ROOT / "examples/quickstart"
CASE = "50 relationships"
CONNECTIONS = 10


def measure_workup(bench):
    times, raw = micro.run(bench, "workup_bench")
    bench.keep("workup", raw)
    name = f"workup with {CASE}, SQLite"
    ours, bare = times[f"workup/{CASE}"], times[f"statements/{CASE}"]
    prepared, read = times[f"prepared/{CASE}"], times[f"reading/{CASE}"]
    program = "bare program"
    return [
        table.row(f"{name}: CPU", ours.cpu / 1e3, bare.cpu / 1e3, program, "µs", at_most=1.5),
        table.row(f"{name}: time", ours.real / 1e3, bare.real / 1e3, program, "µs", at_most=1.5),
        table.row(f"{name}, without JSON and text: CPU", read.cpu / 1e3, bare.cpu / 1e3, program, "µs"),
        table.row(f"{name}: CPU", ours.cpu / 1e3, prepared.cpu / 1e3, "prepared once", "µs"),
    ]


def measure_connecting(bench):
    """Connects and disconnects the quickstart's company in turn, after ratifying it."""
    home = bench.place("datasets")
    database = home / "company.db"
    subprocess.run([sys.executable, QUICKSTART / "company.py", "--out", database], check=True, capture_output=True)
    environment = {
        "PROTEUS_MAPPINGS": str(home / "mappings"),
        "PROTEUS_PEPPER": "the pepper of this benchmark",
        "ACME_DSN": f"sqlite://{database}",
    }
    ratify = [servers.program("proteus"), "dataset", "ratify", QUICKSTART / "acme.toml", "--by", "bench"]
    ratify += ["--ontology", QUICKSTART / "ontology.toml"]
    subprocess.run(ratify, env={**os.environ, **environment}, check=True, capture_output=True)
    connected, heard = [], []
    with servers.gateway(bench, bench.server_core, "", environment=environment) as gateway:
        admin = client.Admin(gateway)
        with listener.Listener(gateway) as told:
            for _ in range(CONNECTIONS):
                connected.append(_act(admin, told, "connect", heard))
                _act(admin, told, "disconnect", [])
    bench.keep("connect a dataset", {"answer_ms": connected, "notification_ms": heard})
    name = "connect a dataset"
    return [
        table.row(f"{name}: to the answer", statistics.median(connected), unit="ms"),
        table.row(f"{name}: to the notification", statistics.median(heard), unit="ms"),
    ]


def _act(admin, told, what, heard):
    """Returns the milliseconds from the request to the answer; appends those from the request to the notification."""
    listener.pause()
    begin = time.monotonic()
    admin.post(f"/admin/datasets/acme/{what}")
    answered = time.monotonic()
    heard.append((told.heard() - begin) * 1000)
    return (answered - begin) * 1000
