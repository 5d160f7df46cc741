"""Compares a call with a token of an identity provider with a call with a static token, through the same gateway.

The issuer is a key made by the openssl program and a small server. The gateway verifies a new token once, and from then
on finds it by its hash.
"""
import base64
import contextlib
import functools
import http.server
import json
import statistics
import subprocess
import threading
import time

import gateway
import instructions
import load
import servers
import table

ROUNDS = 21
AT_MOST = 1.03
MORE_INSTRUCTIONS = 1.01
SIZE = 1200  # bytes of a token, as issued by large providers
EXCHANGED = "exchanged-" + "x" * (SIZE - 10)


def measure(bench):
    name = "tools/call, 1 KB, with a verified token"
    with contextlib.ExitStack() as stack:
        issuer = stack.enter_context(Issuer(bench.place("issuer")))
        upstream = stack.enter_context(servers.everything(bench, bench.load_core, "--bench", name="upstream"))
        rules = (
            f'[[auth.issuers]]\nissuer = "{issuer.url}"\naudience = ["bench"]\njwks_url = "{issuer.url}/keys"\n'
            '[[auth.rules]]\nname = "{sub}"\n'
        )
        ours = stack.enter_context(gateway.through(bench, upstream, before=rules))
        token = issuer.token()
        pairs = {
            "verified": (ours, load.call("up_bench_1k", token=token)),
            "static": (ours, load.call("up_bench_1k", token=gateway.TOKEN)),
        }
        name += f" of {len(token):,} bytes"
        load.in_turn(bench, name, pairs, rounds=max(ROUNDS, bench.rounds))
        start = functools.partial(gateway.through, bench, upstream, before=rules)
        counts = {label: instructions.of_call(bench, start, pair[1]) for label, pair in pairs.items()}
    cpu = {label: [s["cpu_us"] for s in bench.raw[name] if s["server"] == label] for label in pairs}
    ratio = statistics.median(a / b for a, b in zip(cpu["verified"], cpu["static"]))
    static = statistics.median(cpu["static"])
    rows = [table.row(f"{name}: CPU per request", ratio * static, static, "static token", "µs", at_most=AT_MOST)]
    return rows + _counted(name, counts)


def _counted(name, counts):
    if None in counts.values():
        return []
    verified, static = counts["verified"], counts["static"]
    title = f"{name}: instructions"
    return [table.row(title, verified, static, "static token", "instructions", at_most=MORE_INSTRUCTIONS)]


def _text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """An issuer that signs tokens with RS256 and serves its key. Its token endpoint always returns `EXCHANGED`."""

    def __init__(self, folder):
        self.key = folder / "key.pem"
        subprocess.run(["openssl", "genrsa", "-out", self.key, "2048"], check=True, capture_output=True)
        said = subprocess.run(
            ["openssl", "rsa", "-in", self.key, "-noout", "-modulus"], check=True, capture_output=True, text=True
        )
        modulus = bytes.fromhex(said.stdout.strip().partition("=")[2])
        keys = {"keys": [{"kty": "RSA", "kid": "1", "use": "sig", "n": _text(modulus), "e": "AQAB"}]}
        documents = {"/keys": keys}

        class Documents(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self._answer(documents.get(self.path))

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                kind = "urn:ietf:params:oauth:token-type:access_token"
                answer = {"access_token": EXCHANGED, "issued_token_type": kind, "token_type": "Bearer", "expires_in": 3600}
                self._answer(answer)

            def _answer(self, document):
                body = json.dumps(document).encode()
                self.send_response(404 if document is None else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Documents)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        documents["/.well-known/oauth-authorization-server"] = {
            "issuer": self.url,
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
        }

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def token(self, **more):
        now = int(time.time())
        claims = {"iss": self.url, "sub": "bench", "aud": "bench", "iat": now, "exp": now + 3600, "groups": [], **more}
        signature = 342  # characters of RS256 with 2,048 bits
        while len(_text(json.dumps(claims).encode())) + signature + 60 < SIZE:
            claims["groups"].append(f"group-{len(claims['groups'])}")
        head = _text(json.dumps({"alg": "RS256", "typ": "at+jwt", "kid": "1"}).encode())
        signed = f"{head}.{_text(json.dumps(claims).encode())}"
        made = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", self.key], input=signed.encode(), check=True, capture_output=True
        )
        return f"{signed}.{_text(made.stdout)}"
