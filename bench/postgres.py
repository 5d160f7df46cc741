"""A private PostgreSQL on a socket. It has the default durability settings: fsync is on."""
import os
import pathlib
import pwd
import subprocess

import own_server

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")


class Postgres(own_server.OwnServer):
    """A PostgreSQL server. Runs as the user postgres if we are root, because it refuses to run as root."""

    def __init__(self, bench, core):
        if not (PROGRAMS / "postgres").exists():
            raise RuntimeError("PostgreSQL 15 is not installed")
        self.folder = bench.place("postgres")
        self.as_user = []
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            for above in (self.folder.parent, self.folder):
                above.chmod(0o711)
            self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=KILL"]
        data = self.folder / "data"
        self.run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "--locale=C.UTF-8", "-E", "UTF8")
        pinned = ["taskset", "-c", str(core)] if core is not None else []
        command = [*pinned, *self.as_user, PROGRAMS / "postgres", "-D", data, "-k", self.folder, "-h", ""]
        command += ["-c", "max_connections=200"]
        self.begin("PostgreSQL", command, self.folder / "log", cwd="/")

    def is_ready(self):
        asked = [PROGRAMS / "pg_isready", "-q", "-h", self.folder]
        return subprocess.run(asked, cwd="/", check=False).returncode == 0

    @property
    def url(self):
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def run(self, program, *arguments, core=None, given=None):
        """Runs one of PostgreSQL's programs and returns its output."""
        pinned = ["taskset", "-c", str(core)] if core is not None else []
        command = [*pinned, *self.as_user, str(PROGRAMS / program), *map(str, arguments)]
        ran = subprocess.run(command, cwd="/", input=given, capture_output=True, text=True, check=True)
        return ran.stdout

    def sql(self, text):
        return self.run("psql", "-h", self.folder, "-U", "postgres", "-v", "ON_ERROR_STOP=1", "-qAt", "-f", "-", given=text)

    def stop(self):
        self.process.terminate()
        try:
            self.process.send_signal(2)  # a fast shutdown, which does not wait for clients
            self.process.wait(timeout=own_server.START_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
