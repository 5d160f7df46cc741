"""A PostgreSQL of its own, on a socket, that forgets nothing it acknowledged: with its usual settings, fsync on."""
import os
import pathlib
import pwd
import subprocess
import time

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")
START_SECONDS = 20


class Postgres:
    """Use with `with`. It refuses to run as root, so there it runs as its own user."""

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
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen([str(word) for word in command], cwd="/", stdout=self.log, stderr=self.log)
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def _wait(self):
        deadline = time.monotonic() + START_SECONDS
        while subprocess.run([PROGRAMS / "pg_isready", "-q", "-h", self.folder], cwd="/", check=False).returncode != 0:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError("PostgreSQL does not start")
            time.sleep(0.05)

    @property
    def url(self):
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def run(self, program, *arguments, core=None, given=None):
        """The output of one of its programs."""
        pinned = ["taskset", "-c", str(core)] if core is not None else []
        command = [*pinned, *self.as_user, str(PROGRAMS / program), *map(str, arguments)]
        ran = subprocess.run(command, cwd="/", input=given, capture_output=True, text=True, check=True)
        return ran.stdout

    def sql(self, text):
        return self.run("psql", "-h", self.folder, "-U", "postgres", "-v", "ON_ERROR_STOP=1", "-qAt", "-f", "-", given=text)

    def stop(self):
        self.process.terminate()
        try:
            self.process.send_signal(2)  # without waiting for those who are connected
            self.process.wait(timeout=START_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
