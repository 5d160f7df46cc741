"""A legacy call in a cluster: at the process that has its session, and at another one, beside one without a cluster."""
import contextlib
import functools
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile
import time

import client
import instructions
import load
import servers
import table

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")
OWNER_AT_MOST = 1.02
ELSEWHERE_AT_MOST = 2.2
START_SECONDS = 20


class Postgres:
    """A server of its own on a socket, which refuses to run as root. Use with `with`."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="proteus-bench-pg-"))
        self.become = []
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.become = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=KILL"]
        data = self.folder / "data"
        made = [PROGRAMS / "initdb", "-D", data, "-A", "trust", "-N", "-U", "postgres", "--locale=C.UTF-8", "-E", "UTF8"]
        quiet = {"cwd": "/", "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([*self.become, *made], check=True, **quiet)
        command = [PROGRAMS / "postgres", "-D", data, "-k", self.folder, "-h", "", "-F"]
        self.process = subprocess.Popen([*self.become, *command], **quiet)
        deadline = time.monotonic() + START_SECONDS
        while subprocess.run([PROGRAMS / "pg_isready", "-h", self.folder, "-t", "1"], **quiet).returncode:
            if time.monotonic() > deadline:
                raise RuntimeError("PostgreSQL does not answer")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self):
        return {
            "PROTEUS_STORE": f"postgresql://postgres@%2F{str(self.folder).strip('/').replace('/', '%2F')}/postgres",
            "PROTEUS_PEPPER": "bench-bench-bench-bench-bench-bench",
        }


class Together:
    """Two processes that one request keeps busy: it reaches the first one."""

    def __init__(self, first, second):
        self.name, self.port, self.servers = first.name, first.port, (first, second)

    def cpu_seconds(self):
        return sum(server.cpu_seconds() for server in self.servers)

    def settle(self):
        for server in self.servers:
            server.settle()


def measure(bench):
    if not (PROGRAMS / "postgres").exists():
        raise RuntimeError("PostgreSQL 15 is not installed; `scripts/setup.sh test` installs it")
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(Postgres())
        fixture = servers.everything(bench, bench.load_core, "--bench", "--era", "legacy", name="upstream")
        upstream = servers.upstream("up", stack.enter_context(fixture).port, 'prefix = ""')
        alone = functools.partial(servers.gateway, bench, bench.server_core, upstream)
        member = functools.partial(
            servers.gateway,
            bench,
            bench.server_core,
            upstream + '[cluster]\npeer_listen = "127.0.0.1:0"\n',
            environment=postgres.environment(),
        )
        counts = {label: _instructions(bench, start) for label, start in (("alone", alone), ("owner", member))}
        without = stack.enter_context(alone(name="alone"))
        owner = stack.enter_context(member(name="owner"))
        other = stack.enter_context(member(name="other"))
        session = client.legacy_session(owner)
        pairs = {
            "one process": (without, _call(client.legacy_session(without))),
            "owner": (owner, _call(session)),
            "elsewhere": (Together(other, owner), _call(session)),
        }
        medians = load.in_turn(bench, "tools/call in a cluster", pairs)
    name = "tools/call of a legacy client in a cluster"
    rows = table.compared(f"{name}, at its process", medians, "owner", "one process")
    rows += table.compared(
        f"{name}, at another process", medians, "elsewhere", "one process", cpu_at_most=ELSEWHERE_AT_MOST
    )
    if None not in counts.values():
        label = f"{name}, at its process: instructions"
        row = table.row(label, counts["owner"], counts["alone"], "one process", "instructions", at_most=OWNER_AT_MOST)
        rows.append(row)
    return rows


def _call(session):
    return load.call("bench_1k", era=client.LEGACY, ids=1000, session=session)


class _Begun:
    """The load of a client whose session begins with the server that it is put on."""

    def __init__(self, start):
        self.start, self.session = start, ""
        self.what = _call("")
        self.path, self.body = self.what.path, self.what.body

    def __call__(self, **more):
        server = self.start(**more)
        self.what.session = client.legacy_session(server)
        return server

    def headers(self):
        return self.what.headers()


def _instructions(bench, start):
    begun = _Begun(start)
    return instructions.of_call(bench, begun, begun)
