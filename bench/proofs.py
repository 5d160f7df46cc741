"""Measures calls whose token is bound to a key and that prove possession of the key each time (DPoP, RFC 9449).

Each proof is valid for one request. The openssl program makes the proofs beforehand. The calls are sent one after the
other over one connection, in turn with calls that need no proof.
"""
import base64
import contextlib
import hashlib
import http.client
import json
import statistics
import subprocess
import time

import gateway
import identity
import load
import servers
import table

ROUNDS = 5
CALLS = 200  # in a round; proofs are valid for a minute


def measure(bench):
    name = "tools/call, 1 KB, with a DPoP proof"
    with contextlib.ExitStack() as stack:
        issuer = stack.enter_context(identity.Issuer(bench.place("issuer")))
        upstream = stack.enter_context(servers.everything(bench, bench.load_core, "--bench", name="upstream"))
        ours = stack.enter_context(gateway.through(bench, upstream, before=_rules(issuer)))
        key = _Key(bench.place("key"))
        bound = load.call("up_bench_1k", token=issuer.token(cnf={"jkt": key.thumbprint}))
        plain = load.call("up_bench_1k", token=issuer.token())
        url = _resource(ours)
        taken = {"proof": [], "bearer": []}
        for number in range(ROUNDS + 1):
            proofs = [key.proof(url, bound.token) for _ in range(CALLS)]
            with_proofs = [{**bound.headers(), "Authorization": f"DPoP {bound.token}", "DPoP": one} for one in proofs]
            for label, what, heads in (("proof", bound, with_proofs), ("bearer", plain, [plain.headers()] * CALLS)):
                spent = _cpu_us(ours, what, heads)
                if number > 0:  # the first round warms up
                    taken[label].append(spent)
                    bench.keep(name, {"server": label, "round": number, "cpu_us": spent})
    proof, bearer = (statistics.median(taken[label]) for label in ("proof", "bearer"))
    return [table.row(f"{name}: CPU per request", proof, bearer, "verified token", "µs")]


def _rules(issuer):
    return (
        f'[[auth.issuers]]\nissuer = "{issuer.url}"\naudience = ["bench"]\njwks_url = "{issuer.url}/keys"\n'
        '[[auth.rules]]\nname = "{sub}"\n'
    )


def _text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _resource(server):
    """Returns the URL of the endpoint according to the gateway's resource metadata."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", "/.well-known/oauth-protected-resource/mcp")
    found = json.loads(connection.getresponse().read())["resource"]
    connection.close()
    return found


def _cpu_us(server, what, heads):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    before = server.cpu_seconds()
    for head in heads:
        connection.request("POST", what.path, what.body, head)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"HTTP {answer.status}: {body[:300]!r}")
    spent = server.cpu_seconds() - before
    connection.close()
    return spent / len(heads) * 1e6


class _Key:
    """A P-256 key with which a client signs its proofs."""

    def __init__(self, folder):
        self.file = folder / "key.pem"
        self.made = 0
        command = ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.file]
        subprocess.run(command, check=True, capture_output=True)
        shown = subprocess.run(
            ["openssl", "ec", "-in", self.file, "-pubout", "-outform", "DER"], check=True, capture_output=True
        )
        x, y = shown.stdout[-64:-32], shown.stdout[-32:]
        self.jwk = {"crv": "P-256", "kty": "EC", "x": _text(x), "y": _text(y)}
        canonical = json.dumps(self.jwk, sort_keys=True, separators=(",", ":")).encode()
        self.thumbprint = _text(hashlib.sha256(canonical).digest())

    def proof(self, url, token):
        self.made += 1
        head = {"typ": "dpop+jwt", "alg": "ES256", "jwk": self.jwk}
        claims = {
            "jti": f"bench-{self.made}",
            "htm": "POST",
            "htu": url,
            "iat": int(time.time()),
            "ath": _text(hashlib.sha256(token.encode()).digest()),
        }
        signed = ".".join(_text(json.dumps(part).encode()) for part in (head, claims))
        made = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", self.file], input=signed.encode(), check=True, capture_output=True
        )
        return f"{signed}.{_text(_raw(made.stdout))}"


def _raw(signature):
    """Converts a DER signature to the format of JWS."""
    first = 4 + signature[3]
    numbers = signature[4:first], signature[first + 2 : first + 2 + signature[first + 1]]
    return b"".join(number.lstrip(b"\0").rjust(32, b"\0") for number in numbers)
