"""Compares calls to an upstream with a grant for each user with calls to an upstream with a static token.

The caller is the same. Its token is exchanged once at its issuer for an upstream token; from then on the gateway looks
up the caller's grant for each call. The static token has the same length.
"""
import contextlib
import functools
import statistics

import gateway
import identity
import instructions
import load
import servers
import table

ROUNDS = 21
AT_MOST = 1.05


def measure(bench):
    name = "tools/call, 1 KB, with a grant of the caller's own"
    with contextlib.ExitStack() as stack:
        issuer = stack.enter_context(identity.Issuer(bench.place("grant-issuer")))
        upstream = stack.enter_context(servers.everything(bench, bench.load_core, "--bench", name="upstream"))
        rules = (
            f'[[auth.issuers]]\nissuer = "{issuer.url}"\naudience = ["bench"]\njwks_url = "{issuer.url}/keys"\n'
            '[[auth.rules]]\nname = "{sub}"\n'
        )
        own = (
            'authentication = { type = "oauth", grant = "token_exchange", client_id = "bench", '
            f'issuer = "{issuer.url}" }}'
        )
        static = 'authentication = { type = "bearer", token_env = "UPSTREAM_TOKEN" }'
        token = {"UPSTREAM_TOKEN": identity.EXCHANGED}
        starts = {
            "own": functools.partial(gateway.through, bench, upstream, own, name="own", before=rules),
            "static": functools.partial(
                gateway.through, bench, upstream, static, gateway.DIRECT, name="static", before=rules, environment=token
            ),
        }
        what = load.call("up_bench_1k", token=issuer.token())
        pairs = {label: (stack.enter_context(start()), what) for label, start in starts.items()}
        load.in_turn(bench, name, pairs, rounds=max(ROUNDS, bench.rounds))
        counts = {label: instructions.of_call(bench, start, what) for label, start in starts.items()}
    cpu = {label: [s["cpu_us"] for s in bench.raw[name] if s["server"] == label] for label in pairs}
    ratio = statistics.median(a / b for a, b in zip(cpu["own"], cpu["static"]))
    static = statistics.median(cpu["static"])
    rows = [table.row(f"{name}: CPU per request", ratio * static, static, "static token", "µs", at_most=AT_MOST)]
    if None not in counts.values():
        label = f"{name}: instructions"
        rows.append(table.row(label, counts["own"], counts["static"], "static token", "instructions", at_most=AT_MOST))
    return rows
