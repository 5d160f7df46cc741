"""Programs that the servers which are measured need beside them."""
import subprocess
import time

START_SECONDS = 20


class OwnServer:
    """Use with `with`. Who is one begins, says when it is ready, and how it ends."""

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
