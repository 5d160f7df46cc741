"""The list of a gateway in a context, against the same list without one."""
import pathlib
import statistics

import servers

PLACES = {"plain": "/mcp", "context": "/mcp/bench"}
# Some tools are described for the context; all of them go through it.
CONTEXT = """
[contexts.bench]
schemas = ["some"]
tool_supplements = { tool_1 = "A text that only this context has." }
[schemas.some]
tools = ["*_7", "*_8"]
guidance = "Amounts are in the currency of the filing."
"""


def gateway(upstream, core, folder):
    """A gateway of one thread before that server."""
    home = folder / "gateway"
    home.mkdir()
    configuration = home / "proteus.toml"
    configuration.write_text(
        "[server]\nlisten = \"127.0.0.1:0\"\nthreads = 1\npage_size = 100000\n"
        f"[[upstreams]]\nname = \"up\"\nurl = \"http://127.0.0.1:{upstream.port}/mcp\"\nprefix = \"\"\n"
        f"fail_fast_on_startup = true\n{CONTEXT}"
    )
    program = servers.program("proteus")
    command = [program, "serve", "--config", configuration, "--data", home / "data"]
    return servers.Server("gateway", command, core, log=home / "gateway.log")


def measure(load, run_load, answer_of, cores, settings, folder, raw):
    """Rows of both places, measured in turn."""
    seconds, rounds = settings
    server_core, load_core = cores
    running = []
    name = f"{load.row}, in a context"
    try:
        running.append(servers.proteus(load.tools, server_core, pathlib.Path(folder) / "upstream"))
        running.append(gateway(running[0], server_core, pathlib.Path(folder)))
        server = running[1]
        for path in PLACES.values():
            answer_of(server, load, path)
            run_load(server, load, min(1, seconds), load_core, folder, path)
        for number in range(rounds):
            places = list(PLACES.items())
            for place, path in places if number % 2 == 0 else reversed(places):
                sample = run_load(server, load, seconds, load_core, folder, path)
                raw.append({"row": name, "server": place, "round": number + 1, **sample})
    finally:
        for server in reversed(running):
            server.stop()

    def median(place, key):
        return statistics.median(s[key] for s in raw if s["row"] == name and s["server"] == place)

    for key, what, unit in (("throughput", "throughput", "requests/s"), ("cpu_us", "CPU per request", "µs")):
        yield f"{name}: {what}", median("context", key), median("plain", key), "without a context", unit
