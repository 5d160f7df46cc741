"""A private Redis on loopback, without persistence."""
import re
import subprocess

import own_server
import servers

PROGRAM = "/usr/bin/redis-server"
# Commands of the bench itself, and periodic commands of a gateway.
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
        """Runs a command with redis-cli and returns its output."""
        command = ["redis-cli", "-p", str(self.port), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=check).stdout.strip()

    def commands(self):
        """Returns how often each command has run, including within scripts, without the commands in `OTHERS`."""
        lines = re.findall(r"^cmdstat_([^:]+):calls=(\d+)", self.ask("info", "commandstats"), re.M)
        return {name: int(calls) for name, calls in lines if name not in OTHERS}

    def kept(self):
        """Returns the number of kept events by stream."""
        keys = self.ask("keys", "proteus:1:events:*").split()
        return {key: int(self.ask("hlen", key)) for key in keys}

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
