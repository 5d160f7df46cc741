"""A Redis of its own, on loopback, that keeps nothing on a disk."""
import re
import subprocess
import time

import servers

PROGRAM = "/usr/bin/redis-server"
START_SECONDS = 20
# What the bench itself asks, and what a process asks now and then, called or not.
OTHERS = ("info", "keys", "hlen", "flushall", "ping")


class Redis:
    """Use with `with`."""

    def __init__(self, bench, core):
        self.port = servers.free_port()
        self.log = open(bench.place("redis") / "log", "wb")
        command = ["taskset", "-c", str(core), PROGRAM, "--port", str(self.port), "--bind", "127.0.0.1"]
        command += ["--save", "", "--appendonly", "no", "--dir", str(bench.folder)]
        try:
            self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        except FileNotFoundError as error:
            raise RuntimeError(f"{error.filename} is not installed") from None
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def _wait(self):
        deadline = time.monotonic() + START_SECONDS
        while self.ask("ping", check=False) != "PONG":
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError("Redis does not start")
            time.sleep(0.05)

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def ask(self, *words, check=True):
        """What somebody else there is told."""
        command = ["redis-cli", "-p", str(self.port), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=check).stdout.strip()

    def commands(self):
        """How often each command ran so far, those within scripts as well, without what is for nobody's call."""
        lines = re.findall(r"^cmdstat_([^:]+):calls=(\d+)", self.ask("info", "commandstats"), re.M)
        return {name: int(calls) for name, calls in lines if name not in OTHERS}

    def kept(self):
        """How many events there are of each stream."""
        keys = self.ask("keys", "proteus:1:events:*").split()
        return {key: int(self.ask("hlen", key)) for key in keys}

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
