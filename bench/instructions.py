"""Counts the instructions of one call with valgrind."""
import http.client
import pathlib
import re
import shutil
import statistics
import subprocess
import time

import client
import servers

FEW, MANY = 200, 1200  # calls
WARM, WINDOWS = 1000, 15
IDLE_SECONDS = 10


def of_call(bench, start, what):
    """Returns the instructions of one call, counted as the difference of two runs; None without valgrind.

    `start` starts a gateway, given `programs` and `wrapped`.
    """
    if not shutil.which("valgrind"):
        return None
    few, many = (_total(bench, start, what, calls) for calls in (FEW, MANY))
    return None if few is None or many is None else (many - few) / (MANY - FEW)


def of_calls_and_idling(bench, start, what):
    """Returns the instructions of a `call` and of an `idle` second; those of idling are not part of the call's.

    Callgrind counts within one run, which excludes the start-up, whose count differs from run to run. This is exact
    enough for fractions of a percent. Returns None without valgrind.
    """
    if not shutil.which("callgrind_control"):
        return None
    dumps = bench.place("callgrind") / "dump"
    counter = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={dumps}"]
    with start(programs=_without_symbols(bench), wrapped=counter) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        client.repeat(connection, what, WARM)
        idle = _between(server, dumps, lambda: time.sleep(IDLE_SECONDS))
        each_second = idle["count"] / idle["seconds"]
        samples = []
        for _ in range(WINDOWS):
            busy = _between(server, dumps, lambda: client.repeat(connection, what, MANY - FEW))
            samples.append((busy["count"] - each_second * busy["seconds"]) / (MANY - FEW))
        connection.close()
    return {"call": statistics.median(samples), "idle": each_second, "samples": samples}


def _between(server, dumps, act):
    """Returns the instructions that a server executes during `act`, and the seconds that `act` takes."""
    _control(server, "--zero")
    began = time.monotonic()
    act()
    seconds = time.monotonic() - began
    _control(server, "--dump")
    newest = max(dumps.parent.glob(f"{dumps.name}.*"), key=lambda path: int(path.suffix[1:]))
    return {"count": int(re.search(r"^totals: (\d+)", newest.read_text(), re.M)[1]), "seconds": seconds}


def _control(server, what):
    subprocess.run(["callgrind_control", what, str(server.process.pid)], check=True, capture_output=True)


def _total(bench, start, what, calls):
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    with start(programs=_without_symbols(bench), wrapped=counter) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        client.repeat(connection, what, calls)
        connection.close()
        log = pathlib.Path(server.log.name)
    found = re.search(r"I\s+refs:\s+([0-9,]+)", log.read_text(errors="replace"))
    return int(found[1].replace(",", "")) if found else None


def _without_symbols(bench):
    """Returns a folder with the gateway without debug information, because valgrind cannot read our compiler's."""
    folder = bench.folder / "without-symbols"
    folder.mkdir(exist_ok=True)
    subprocess.run(["strip", "-g", "-o", folder / "proteus", servers.program("proteus")], check=True)
    return folder
