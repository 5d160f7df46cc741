"""Instructions of one call, counted by valgrind as the difference of two runs of a gateway."""
import http.client
import pathlib
import re
import shutil
import subprocess

import servers

FEW, MANY = 200, 1200  # calls


def of_call(bench, start, what):
    """`start` starts a gateway, given `programs` and `wrapped`. None where there is no valgrind."""
    if not shutil.which("valgrind"):
        return None
    few, many = (_total(bench, start, what, calls) for calls in (FEW, MANY))
    return None if few is None or many is None else (many - few) / (MANY - FEW)


def _total(bench, start, what, calls):
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    with start(programs=_without_symbols(bench), wrapped=counter) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for _ in range(calls):
            connection.request("POST", what.path, what.body, what.headers())
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"HTTP {answer.status}")
        connection.close()
        log = pathlib.Path(server.log.name)
    found = re.search(r"I\s+refs:\s+([0-9,]+)", log.read_text(errors="replace"))
    return int(found[1].replace(",", "")) if found else None


def _without_symbols(bench):
    """A folder with the gateway as valgrind can read it: it does not know our compiler's debug information."""
    folder = bench.folder / "without-symbols"
    folder.mkdir(exist_ok=True)
    subprocess.run(["strip", "-g", "-o", folder / "proteus", servers.program("proteus")], check=True)
    return folder
