"""Instructions of one call, counted by valgrind as the difference of two runs of a gateway."""
import http.client
import pathlib
import re
import shutil
import subprocess
import time

import servers

FEW, MANY = 200, 1200  # calls
BUSY_MANY = 5200  # where it is about fractions of a percent
IDLE_SECONDS = 10


def of_call(bench, start, what):
    """`start` starts a gateway, given `programs` and `wrapped`. None where there is no valgrind."""
    if not shutil.which("valgrind"):
        return None
    few, many = (_total(bench, start, what, calls)[0] for calls in (FEW, MANY))
    return None if few is None or many is None else (many - few) / (MANY - FEW)


def of_busy_call(bench, start, what):
    """The same for a process that also works while nobody calls it: what it does in a second is counted on its own.

    `call` is of a call without that, and `idle` of a second.
    """
    if not shutil.which("valgrind"):
        return None
    runs = [_total(bench, start, what, calls, idle) for calls, idle in ((FEW, 0), (FEW, IDLE_SECONDS), (BUSY_MANY, 0))]
    if any(total is None for total, _ in runs):
        return None
    (few, few_seconds), (idle, idle_seconds), (many, many_seconds) = runs
    each_second = (idle - few) / (idle_seconds - few_seconds)
    rest = each_second * (many_seconds - few_seconds)
    return {"call": (many - few - rest) / (BUSY_MANY - FEW), "idle": each_second}


def _total(bench, start, what, calls, idle=0):
    """All instructions of a process, and for how many seconds it served."""
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    with start(programs=_without_symbols(bench), wrapped=counter) as server:
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for _ in range(calls):
            connection.request("POST", what.path, what.body, what.headers())
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"HTTP {answer.status}")
        connection.close()
        time.sleep(idle)
        served = time.monotonic() - began
        log = pathlib.Path(server.log.name)
    found = re.search(r"I\s+refs:\s+([0-9,]+)", log.read_text(errors="replace"))
    return (int(found[1].replace(",", "")) if found else None), served


def _without_symbols(bench):
    """A folder with the gateway as valgrind can read it: it does not know our compiler's debug information."""
    folder = bench.folder / "without-symbols"
    folder.mkdir(exist_ok=True)
    subprocess.run(["strip", "-g", "-o", folder / "proteus", servers.program("proteus")], check=True)
    return folder
