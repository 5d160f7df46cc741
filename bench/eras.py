"""Compares calls across the eras with calls of the same client, and calls to the same upstream, within one era."""
import contextlib

import client
import load
import servers
import table

ERAS = {"legacy": client.LEGACY, "modern": client.MODERN}


def measure(bench):
    with contextlib.ExitStack() as stack:
        sections = ""
        for era in ERAS:
            options = ("--bench", "--era", era)
            server = stack.enter_context(servers.everything(bench, bench.load_core, *options, name=f"{era} upstream"))
            sections += servers.upstream(era, server.port, f'prefix = "{era}_"', 'anonymous_sessions = "shared"')
        gateway = stack.enter_context(servers.gateway(bench, bench.server_core, sections))
        session = client.legacy_session(gateway)
        pairs = {}
        for theirs, version in ERAS.items():
            kept = {"session": session} if theirs == "legacy" else {}
            for upstream in ERAS:
                what = load.call(f"{upstream}_bench_1k", era=version, ids=1000, **kept)
                pairs[f"{theirs} to {upstream}"] = (gateway, what)
        medians = load.in_turn(bench, "tools/call across eras", pairs)
    rows = []
    for theirs, other in (("modern", "legacy"), ("legacy", "modern")):
        name, across = f"tools/call of a {theirs} client to a {other} upstream", f"{theirs} to {other}"
        for era in (theirs, other):
            rows += table.compared(name, medians, across, f"{era} to {era}", cpu_at_most=1.15)
    return rows
