"""A Redis of its own, on loopback, that keeps nothing on a disk."""
import re
import subprocess

import own_server
import servers

PROGRAM = "/usr/bin/redis-server"
# What the bench itself asks, and what a process asks now and then, called or not.
OTHERS = ("info", "keys", "hlen", "flushall", "ping", "getex")


class Redis(own_server.OwnServer):
    def __init__(self, bench, core):
        self.port = servers.free_port()
        command = ["taskset", "-c", str(core), PROGRAM, "--port", str(self.port), "--bind", "127.0.0.1"]
        command += ["--save", "", "--appendonly", "no", "--dir", str(bench.folder)]
        self.begin("Redis", command, bench.place("redis") / "log")

    def is_ready(self):
        return self.ask("ping", check=False) == "PONG"

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
