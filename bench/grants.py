"""A call to an upstream that has a grant for each user beside one to an upstream with a static token.

The same caller, whose token is exchanged at its issuer for one that the upstream takes; from then on the gateway finds
the grant of this caller for each call. The static token is as long.
"""
import contextlib
import statistics

import gateway
import identity
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
        gateways = {
            "own": gateway.through(bench, upstream, own, name="own", before=rules),
            "static": gateway.through(bench, upstream, static, gateway.DIRECT, name="static", before=rules, environment=token),
        }
        what = load.call("up_bench_1k", token=issuer.token())
        pairs = {label: (stack.enter_context(server), what) for label, server in gateways.items()}
        load.in_turn(bench, name, pairs, rounds=max(ROUNDS, bench.rounds))
    cpu = {label: [s["cpu_us"] for s in bench.raw[name] if s["server"] == label] for label in pairs}
    ratio = statistics.median(a / b for a, b in zip(cpu["own"], cpu["static"]))
    static = statistics.median(cpu["static"])
    return [table.row(f"{name}: CPU per request", ratio * static, static, "static token", "µs", at_most=AT_MOST)]
