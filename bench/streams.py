"""Measures many open listen streams: the memory of each, and how soon a change of a list reaches all of them."""
import contextlib
import os
import resource
import select
import socket
import statistics
import time

import client
import listener
import load
import servers
import table

WANTED = int(os.environ.get("BENCH_STREAMS", 10_000))
SPARE_FILES = 500  # descriptors that each process needs besides the streams
AT_ONCE = 200  # connections that are opened concurrently
MEMORY_LIMIT = 16 * 1024
CHANGE = "test_trigger_tool_change"
PATIENCE = 60


class Streams:
    """`count` clients in one thread. Only searches received data for the words that it waits for; does not parse it."""

    def __init__(self, server, count):
        self.poll = select.epoll()
        self.sockets = {}
        body = client.message(listener.LISTEN, listener.WANTED)
        head = [f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: {len(body)}\r\n"]
        head += [f"{name}: {value}\r\n" for name, value in client.headers(listener.LISTEN).items()]
        request = "".join(head).encode() + b"\r\n" + body
        try:
            while len(self.sockets) < count:
                fresh = [self._open(server, request) for _ in range(min(AT_ONCE, count - len(self.sockets)))]
                self.hear(b"subscriptions/acknowledged", set(fresh))
        except BaseException:
            self.close()
            raise

    def _open(self, server, request):
        made = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        made.sendall(request)
        made.setblocking(False)
        self.sockets[made.fileno()] = made
        self.poll.register(made.fileno(), select.EPOLLIN)
        return made.fileno()

    def hear(self, words, waiting=None):
        """Waits until each stream has received these words, and returns when the first and the last one did."""
        waiting = set(self.sockets) if waiting is None else waiting
        deadline = time.monotonic() + PATIENCE
        first = None
        while waiting:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{len(waiting)} of {len(self.sockets)} streams received nothing")
            for descriptor, _ in self.poll.poll(1, 1024):
                data = self.sockets[descriptor].recv(65536)
                if not data or b" 503 " in data[:20]:
                    raise RuntimeError(f"a stream was closed: {data[:200]!r}")
                if words in data:
                    first = first or time.monotonic()
                    waiting.discard(descriptor)
        return first, time.monotonic()

    def close(self):
        self.poll.close()
        for one in self.sockets.values():
            one.close()


def measure(bench):
    count = _possible(WANTED)
    name = f"{count:,} listen streams"
    if count < WANTED:
        name += f" (the limit of open files allows no {WANTED:,})"
    # Two workers, because one accepts at most 8,192 connections.
    sections = f"[limits]\nstreams_per_principal = {count + 100}\n"
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(servers.everything(bench, bench.load_core, name="upstream"))
        sections += servers.upstream("up", upstream.port)
        gateway = stack.enter_context(servers.gateway(bench, bench.server_core, sections, threads=2))
        stack.enter_context(contextlib.closing(Streams(gateway, 100)))  # allocates what is allocated once
        before = gateway.resident_bytes()
        streams = stack.enter_context(contextlib.closing(Streams(gateway, count)))
        each = (gateway.resident_bytes() - before) / count
        samples = [_one_change(bench, upstream, gateway, streams) for _ in range(max(3, bench.rounds))]
    bench.keep(name, {"bytes_each": each, "changes": samples})
    return _rows(name, count, each, samples)


def _possible(wanted):
    """Raises the limit of open files and returns how many streams both processes can have open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted + SPARE_FILES if hard == resource.RLIM_INFINITY else min(hard, wanted + SPARE_FILES)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
    return min(wanted, allowed - SPARE_FILES)


def _one_change(bench, upstream, gateway, streams):
    """Measures one change of the list, from the upstream's answer to the call that changes it."""
    time.sleep(0.5)  # longer than the debounce window of the previous change
    gateway.settle()
    cpu = gateway.cpu_seconds()
    what = load.Load("tools/call", CHANGE, {"name": CHANGE, "arguments": {}}, lambda result: result["content"])
    load.answer_of(upstream, what)
    begin = time.monotonic()
    first, last = streams.hear(listener.CHANGED)
    gateway.settle()
    return {
        "first_ms": (first - begin) * 1000,
        "last_ms": (last - begin) * 1000,
        "cpu_ms": (gateway.cpu_seconds() - cpu) * 1000,
    }


def _rows(name, count, each, samples):
    def median(key):
        return statistics.median(sample[key] for sample in samples)

    return [
        table.row(f"{name}, one change: to the first", median("first_ms"), unit="ms"),
        table.row(f"{name}, one change: to the last", median("last_ms"), unit="ms"),
        table.row(f"{name}, one change: CPU of all", median("cpu_ms"), unit="ms"),
        table.row(f"{name}, one change: CPU each", median("cpu_ms") * 1000 / count, unit="µs"),
        table.limited(f"{name}: memory each", each, MEMORY_LIMIT, "bytes"),
    ]
