"""A client that listens for changes of the list of tools."""
import http.client
import socket
import threading
import time

import client

LISTEN = "subscriptions/listen"
WANTED = {"notifications": {"toolsListChanged": True}}
CHANGED = b"tools/list_changed"
PATIENCE = 10


class Listener:
    """A context manager; `heard` waits for the next notification."""

    def __init__(self, server, token=""):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        body = client.message(LISTEN, WANTED)
        self.connection.request("POST", "/mcp", body, client.headers(LISTEN, token=token))
        self.socket = self.connection.sock  # for `__exit__`: http.client may drop its reference
        self.events = self.connection.getresponse()
        if self.events.status != 200:
            raise RuntimeError(f"{server.name}: no stream: HTTP {self.events.status}: {self.events.read()[:300]!r}")
        self.times = []
        self.wake = threading.Semaphore(0)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            for line in self.events:
                if CHANGED in line:
                    self.times.append(time.monotonic())
                    self.wake.release()
        except (AttributeError, OSError, ValueError):
            return  # `__exit__` has closed the socket, which http.client does not expect

    def heard(self):
        """Waits for the next notification and returns the time of the latest."""
        if not self.wake.acquire(timeout=PATIENCE):
            raise RuntimeError("a client was not notified of a change")
        return self.times[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.connection.close()


def pause():
    time.sleep(0.25)  # longer than the debounce window, which merges changes


def latencies(listener, act, count):
    """Returns the milliseconds from the answer of each `act(number)` to the notification."""
    samples = []
    for number in range(count):
        pause()
        act(number)
        answered = time.monotonic()
        samples.append(max(0.0, (listener.heard() - answered) * 1000))
    return samples
