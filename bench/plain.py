"""Compares our server with nginx sending the same bytes, and with the TypeScript SDK v2 doing the same work."""
import contextlib

import load
import nginx
import servers
import table

SDK = "TypeScript SDK v2"
AS_SHIPPED = "nginx, own buffers"


def measure_call(bench):
    return _measure(bench, "tools/call, 1 KB", load.call(), 0, {"cpu_at_most": 1.0, "throughput_at_least": 1.0})


def measure_list(bench):
    name = f"tools/list, {load.TOOLS} tools"
    return _measure(bench, name, load.listing(), load.TOOLS, {"throughput_at_least": 0.9})


def _measure(bench, name, what, tools, targets):
    with contextlib.ExitStack() as stack:
        core = bench.server_core
        ours = stack.enter_context(servers.everything(bench, core, "--bench", "--tools", tools))
        answer = load.answer_of(ours, what)
        # nginx must do nothing except send the bytes of our answer.
        theirs = stack.enter_context(nginx.fixed(bench, core, answer))
        if load.answer_of(theirs, what) != answer:
            raise RuntimeError(f"nginx, {name} does not send the same bytes")
        shipped = stack.enter_context(nginx.fixed(bench, core, answer, AS_SHIPPED, buffers=""))
        sdk = stack.enter_context(servers.typescript(bench, core, tools))
        medians = load.in_turn(bench, name, {server.name: (server, what) for server in (ours, theirs, shipped, sdk)})
    rows = table.compared(name, medians, "proteus", "nginx", **targets)
    return rows + [row for other in (AS_SHIPPED, SDK) for row in table.compared(name, medians, "proteus", other)]
