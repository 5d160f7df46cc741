#!/usr/bin/env python3
"""The back end of the quickstart: answers every POST with its body, and whether the request had a bearer token.

backend.py --port N (0 for a free port)
"""
import argparse
import http.server
import json
import sys


class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        asked = json.loads(self.rfile.read(length) or b"{}")
        has_token = self.headers.get("Authorization", "").startswith("Bearer ")
        body = json.dumps({"asked": asked, "with_token": has_token}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Backend)
    except OSError as error:
        sys.exit(f"cannot listen on 127.0.0.1 port {port}: {error.strerror}")
    print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
