"""Compares a list in a context with the same list without a context."""
import load
import servers
import table

# The context changes the descriptions of some tools, but processes all of them.
CONTEXT = """
[contexts.bench]
schemas = ["some"]
tool_supplements = { bench_tool_10001 = "A text that only this context has." }
[schemas.some]
tools = ["*_7", "*_8", "*7", "*8"]
guidance = "Amounts are in the currency of the filing."
"""


def measure(bench):
    name = f"tools/list, {load.TOOLS} tools, in a context"
    with servers.everything(bench, bench.load_core, "--bench", "--tools", load.TOOLS) as upstream:
        sections = servers.upstream("up", upstream.port, 'prefix = ""') + CONTEXT
        with servers.gateway(bench, bench.server_core, sections) as gateway:
            plain, inside = load.listing(), load.listing(path="/mcp/bench")
            if len(load.answer_of(gateway, inside)) <= len(load.answer_of(gateway, plain)):
                raise RuntimeError("the context describes nothing")
            medians = load.in_turn(
                bench, name, {"context": (gateway, inside), "without a context": (gateway, plain)}
            )
    return table.compared(name, medians, "context", "without a context", cpu_at_most=1.1)
