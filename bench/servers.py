"""The servers that are measured. Each is pinned to a core, and found by its "listening" line or its port."""
import os
import pathlib
import socket
import subprocess
import time

import client

ROOT = pathlib.Path(__file__).resolve().parent.parent
TICK = os.sysconf("SC_CLK_TCK")
START_SECONDS = 20
SETTLE_SECONDS = 30


class Server:
    """A running server with its name, port, CPU time and memory. A context manager."""

    def __init__(self, name, command, core, log, port=None, environment=None, family=True):
        self.name = name
        self.family = family  # whether the CPU time of its children counts
        self.log = open(log, "wb")
        command = ["taskset", "-c", str(core), *map(str, command)]
        environment = {**os.environ, **(environment or {})}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, env=environment)
        try:
            self.port = port or self._announced_port()
            self._wait_for_port()
        except BaseException:
            self.stop()
            raise

    def _announced_port(self):
        for line in self.process.stdout:
            if line.startswith(b"listening on "):
                return int(line.split(b":")[2].split(b"/")[0])
        raise RuntimeError(f"{self.name} ended before it was listening: {self._last_words()}")

    def _wait_for_port(self):
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise RuntimeError(f"{self.name} does not listen: {self._last_words()}") from None
                time.sleep(0.05)

    def _last_words(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")[-500:]

    def cpu_seconds(self):
        """Returns the CPU time of the live threads of the process, and of its descendants if `family` is set."""
        return sum(_thread_seconds(pid) for pid in (self._family() if self.family else [self.process.pid]))

    def resident_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * 1024

    def settle(self):
        """Waits until the server is idle: abandoned requests would take time from the server that is measured next."""
        deadline = time.monotonic() + SETTLE_SECONDS
        spent = self.cpu_seconds()
        while time.monotonic() < deadline:
            time.sleep(0.1)
            before, spent = spent, self.cpu_seconds()
            if spent - before < 1 / TICK:
                return

    def _family(self):
        """Returns the process and its descendants. taskset has replaced itself with the server."""
        parents = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                fields = _stat(int(entry))
                if fields:
                    parents.setdefault(int(fields[1]), []).append(int(entry))
        family = [self.process.pid]
        for pid in family:
            family.extend(parents.get(pid, []))
        return family

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def _stat(pid):
    """Returns the fields of /proc/<pid>/stat after the name, so that [0] is the state; None if the process is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def _thread_seconds(pid):
    """Returns the CPU time of all threads from the scheduler, which is finer than the ticks of /proc/<pid>/stat."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            total += int(task.read_text().split()[0])
        except OSError:
            continue  # the thread has ended
    return total / 1e9


def busy_seconds(core):
    """Returns the time that a core has spent on all processes."""
    for line in pathlib.Path("/proc/stat").read_text().splitlines():
        name, *columns = line.split()
        if name == f"cpu{core}":
            return sum(map(int, columns[:3])) / TICK
    raise RuntimeError(f"there is no core {core}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def program(name, folder=None):
    """Returns the path of one of our programs, which must exist. `folder` is that of another build."""
    path = pathlib.Path(folder or os.environ.get("PROTEUS_BIN", ROOT / "build/release/bin")).resolve() / name
    if not path.exists():
        raise RuntimeError(f"{path} does not exist; `make build` builds it")
    return path


def node():
    cpu = "arm64" if os.uname().machine == "aarch64" else "x64"
    return ROOT / f"tests/e2e/node_modules/node-linux-{cpu}/bin/node"


def everything(bench, core, *options, name="proteus"):
    """Starts our server with one thread, because nginx has one worker."""
    command = [program("everything-server"), "--port", 0, "--threads", 1, *options]
    return Server(name, command, core, bench.place(name) / "log")


def gateway(bench, core, sections, name="proteus", threads=1, environment=None, family=True, programs=None, wrapped=()):
    """Starts our gateway. The sections of its configuration may begin with further keys of [server]."""
    home = bench.place("gateway")
    configuration = home / "proteus.toml"
    configuration.write_text(f'[server]\nlisten = "127.0.0.1:0"\nthreads = {threads}\n{sections}')
    command = [*wrapped, program("proteus", programs), "serve", "--config", configuration, "--data", home / "data"]
    environment = {"PROTEUS_ADMIN_SECRET": client.SECRET, **(environment or {})}
    return Server(name, command, core, home / "log", environment=environment, family=family)


def upstream(name, port, *more, must=True):
    """Returns the configuration section of an upstream at a port."""
    lines = ["[[upstreams]]", f'name = "{name}"', f'url = "http://127.0.0.1:{port}/mcp"', *more]
    return "\n".join([*lines, f"fail_fast_on_startup = {str(must).lower()}", ""])


def typescript(bench, core, tools):
    script = ROOT / "tests/e2e/servers/bench_server.mjs"
    return Server("TypeScript SDK v2", [node(), script, "--tools", tools], core, bench.place("typescript") / "log")


def mcp_proxy(bench, core, command):
    """Starts the gateway `mcp-proxy` from npm before a program on standard streams, in the modern era on both sides."""
    script = ROOT / "bench/node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs"
    if not script.exists():
        raise RuntimeError(f"{script} does not exist; `scripts/setup.sh bench npm` installs it")
    port = free_port()
    options = ["--host", "127.0.0.1", "--port", port, "--server", "stream", "--upstreamProtocol", "modern"]
    whole = [node(), script, *options, "--", *command]
    return Server("mcp-proxy", whole, core, bench.place("mcp-proxy") / "log", port=port, family=False)
