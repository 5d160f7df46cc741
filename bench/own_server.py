"""Base class for the auxiliary servers that measured servers need."""
import subprocess
import time

START_SECONDS = 20


class OwnServer:
    """A context manager that runs a server. Subclasses call `begin`, and define `is_ready` and `stop`."""

    def begin(self, name, command, log, **more):
        self.log = open(log, "wb")
        try:
            self.process = subprocess.Popen([str(word) for word in command], stdout=self.log, stderr=self.log, **more)
        except FileNotFoundError as error:
            raise RuntimeError(f"{error.filename} is not installed") from None
        try:
            deadline = time.monotonic() + START_SECONDS
            while not self.is_ready():
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise RuntimeError(f"{name} does not start")
                time.sleep(0.05)
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
