"""Measures calls and lists through the gateway: a cached upstream with a prefix, a bearer token, metrics, one thread.

The proxy under test has a core to itself; the upstream and the load generator share the other.
"""
import contextlib

import load
import nginx
import servers
import table

TOKEN = "bench-token-of-32-characters-----"
AUTH = '[auth]\nanonymous = "never"\n[[auth.tokens]]\nname = "bench"\ntoken_env = "BENCH_TOKEN"\n'
PROXY_TARGETS = {"cpu_at_most": 1.0, "throughput_at_least": 1.0}


DIRECT = 'refresh_strategy = "direct_proxy"'


def through(bench, upstream, *more, name="proteus", before="", programs=None, wrapped=(), environment=None):
    """Starts a gateway before an upstream, whose tools begin with `up_`. `before` holds further configuration sections.

    `programs` is the folder of another build, and `wrapped` a command that runs the gateway.
    """
    sections = AUTH + before + servers.upstream("up", upstream.port, *more)
    token = {"BENCH_TOKEN": TOKEN, **(environment or {})}
    core = bench.server_core
    return servers.gateway(bench, core, sections, name, environment=token, programs=programs, wrapped=wrapped)


def measure_call(bench):
    return _measure_call(bench, "tools/call through the gateway, 1 KB", {})


def measure_large_call(bench):
    return _measure_call(bench, "tools/call through the gateway, 64 KB", {"size": 64_000})


def measure_streamed_call(bench):
    options = {"meta": {"progressToken": 1}, "streamed": True}
    return _measure_call(bench, "tools/call through the gateway, 1 KB, SSE answer", options, "bench_progress")


def _measure_call(bench, name, options, tool="bench_1k"):
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(servers.everything(bench, bench.load_core, "--bench", name="upstream"))
        ours = stack.enter_context(through(bench, upstream))
        theirs = stack.enter_context(nginx.proxy(bench, bench.server_core, upstream, "streamed" in options))
        pairs = {
            ours.name: (ours, load.call(f"up_{tool}", token=TOKEN, **options)),
            theirs.name: (theirs, load.call(tool, token=TOKEN, **options)),
        }
        medians = load.in_turn(bench, name, pairs)
    return table.compared(name, medians, ours.name, theirs.name, **PROXY_TARGETS)


def measure_list(bench):
    name = f"tools/list through the gateway, {load.TOOLS} tools"
    what = load.listing(token=TOKEN)
    with contextlib.ExitStack() as stack:
        options = ("--bench", "--tools", load.TOOLS)
        upstream = stack.enter_context(servers.everything(bench, bench.load_core, *options, name="upstream"))
        ours = stack.enter_context(through(bench, upstream))
        theirs = stack.enter_context(nginx.fixed(bench, bench.server_core, load.answer_of(ours, what)))
        medians = load.in_turn(bench, name, {"proteus": (ours, what), "nginx": (theirs, what)})
    return table.compared(name, medians, "proteus", "nginx", throughput_at_least=0.9)


def measure_strategies(bench):
    """Compares cached with direct_proxy, by a call and a list."""
    rows = []
    with contextlib.ExitStack() as stack:
        options = ("--bench", "--tools", load.TOOLS)
        upstream = stack.enter_context(servers.everything(bench, bench.load_core, *options, name="upstream"))
        gateways = {
            "cached": stack.enter_context(through(bench, upstream, name="cached")),
            "direct_proxy": stack.enter_context(through(bench, upstream, DIRECT, name="direct_proxy")),
        }
        loads = {
            "tools/call, 1 KB, cached": load.call("up_bench_1k", token=TOKEN),
            f"tools/list, {load.TOOLS} tools, cached": load.listing(token=TOKEN),
        }
        for name, what in loads.items():
            medians = load.in_turn(bench, name, {label: (server, what) for label, server in gateways.items()})
            rows += table.compared(name, medians, "cached", "direct_proxy")
        # This upstream's tools have no prefix, so that only the lists show which upstream has `up_bench_1k`.
        other = servers.upstream("other", upstream.port, 'prefix = ""', DIRECT)
        gateways["several"] = stack.enter_context(through(bench, upstream, DIRECT, name="several", before=other))
        name = "tools/call, 1 KB, direct_proxy, routed by lists"
        what = load.call("up_bench_1k", token=TOKEN)
        medians = load.in_turn(bench, name, {label: (gateways[label], what) for label in ("several", "direct_proxy")})
        rows += table.compared(name, medians, "several", "direct_proxy", cpu_at_most=1.1)
    return rows


def measure_npm(bench):
    """Compares with mcp-proxy from npm: both run the same program on standard streams, all in the modern era."""
    name = "tools/call through a gateway to a program"
    program = servers.program("everything-server")
    command = ["taskset", "-c", str(bench.load_core), str(program), "--stdio", "--bench", "--era", "modern"]
    section = f'[[upstreams]]\nname = "up"\nfail_fast_on_startup = true\ncommand = {command}\n'
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(servers.gateway(bench, bench.server_core, section, family=False))
        theirs = stack.enter_context(servers.mcp_proxy(bench, bench.server_core, command))
        pairs = {"proteus": (ours, load.call("up_bench_1k")), "mcp-proxy": (theirs, load.call())}
        medians = load.in_turn(bench, name, pairs)
    return table.compared(name, medians, "proteus", "mcp-proxy")
