"""The servers that are measured: each is started on the server's core, found by its "listening" line, and stopped."""
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TICK = os.sysconf("SC_CLK_TCK")
START_SECONDS = 20
SETTLE_SECONDS = 30


class Server:
    """A running server: its name, its port, and the CPU time of all its processes."""

    def __init__(self, name, command, core, port=None, log=None):
        self.name = name
        self.log = open(log, "wb")
        command = ["taskset", "-c", str(core), *map(str, command)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log)
        try:
            self.port = port or self._announced_port()
            self._wait_for_port()
        except Exception:
            self.stop()
            raise

    def _announced_port(self):
        for line in self.process.stdout:
            if line.startswith(b"listening on "):
                return int(line.split(b":")[2].split(b"/")[0])
        raise RuntimeError(f"{self.name} ended before it was listening; see {self.log.name}")

    def _wait_for_port(self):
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise RuntimeError(f"{self.name} does not listen; see {self.log.name}") from None
                time.sleep(0.05)

    def cpu_seconds(self):
        """User and system time of the process, its threads, and its living and dead children."""
        total = 0
        for pid in self._family():
            fields = _stat(pid)
            if fields:
                total += sum(map(int, fields[11:15]))
        return total / TICK

    def settle(self):
        """Waits until it is idle: requests whose client left would steal time from the server measured next."""
        deadline = time.monotonic() + SETTLE_SECONDS
        spent = None
        while spent != (spent := self.cpu_seconds()) and time.monotonic() < deadline:
            time.sleep(0.1)

    def _family(self):
        """The process and its descendants; taskset became the server itself."""
        parents = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                fields = _stat(int(entry))
                if fields:
                    parents.setdefault(int(fields[1]), []).append(int(entry))
        family = [self.process.pid]
        for pid in family:
            family.extend(parents.get(pid, []))
        return family

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def _stat(pid):
    """The fields of /proc/<pid>/stat after the name, so that [0] is the state; None if the process is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def program(name):
    """One of ours, which must have been built."""
    path = pathlib.Path(os.environ.get("PROTEUS_BIN", ROOT / "build/release/bin")) / name
    if not path.exists():
        raise RuntimeError(f"{path} does not exist; `make build` builds it")
    return path


def proteus(tools, core, folder):
    server = program("everything-server")
    command = [server, "--port", 0, "--bench", "--tools", tools]
    # One thread on the one core, as nginx has one worker.
    if "--threads" in subprocess.run([server, "--help"], capture_output=True, text=True).stdout:
        command += ["--threads", 1]
    return Server("proteus", command, core, log=folder / f"proteus-{tools}.log")


def typescript(tools, core, folder):
    cpu = "arm64" if os.uname().machine == "aarch64" else "x64"
    node = ROOT / f"tests/e2e/node_modules/node-linux-{cpu}/bin/node"
    script = ROOT / "tests/e2e/servers/bench_server.mjs"
    return Server("typescript-sdk-v2", [node, script, "--tools", tools], core, log=folder / f"typescript-{tools}.log")


NGINX = """
daemon off;
user {user};
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  default_type application/json;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  client_header_buffer_size 4k;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=16 inactive=1h;
  open_file_cache_valid 1h;
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    location = /mcp {{ {answer} }}
    location = /answer.json {{ internal; root {folder}; }}
  }}
}}
"""

# A longer parameter does not fit into nginx's configuration; a file serves the rest, and costs it one sendfile.
LONGEST_RETURN = 3000


def nginx(answer, core, folder):
    """nginx, answering every POST with the bytes of `answer`."""
    found = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if not found:
        raise RuntimeError("nginx is not installed")
    folder.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    text = answer.decode()
    if len(answer) <= LONGEST_RETURN and not set("'\\$") & set(text):
        how = f"return 200 '{text}';"
    else:
        (folder / "answer.json").write_bytes(answer)
        # A file is not served to a POST, but the answer to that error may be the file.
        how = "error_page 405 =200 /answer.json; try_files /answer.json =404;" f" root {folder};"
    configuration = folder / "nginx.conf"
    user = pwd.getpwuid(os.getuid()).pw_name
    configuration.write_text(NGINX.format(folder=folder, port=port, user=user, answer=how))
    command = [found, "-p", folder, "-e", folder / "error.log", "-c", configuration]
    return Server("nginx", command, core, port=port, log=folder / "output.log")


PROXY = """
daemon off;
user {user};
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  upstream backend {{
    server 127.0.0.1:{backend};
    keepalive 64;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
  }}
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    location = /mcp {{
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_pass http://backend;
    }}
  }}
}}
"""


def nginx_proxy(backend, core, folder):
    """nginx, passing every request on to the back end at a port."""
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if not program:
        raise RuntimeError("nginx is not installed")
    folder.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    configuration = folder / "nginx.conf"
    user = pwd.getpwuid(os.getuid()).pw_name
    configuration.write_text(PROXY.format(folder=folder, port=port, user=user, backend=backend))
    command = [program, "-p", folder, "-e", folder / "error.log", "-c", configuration]
    return Server("nginx proxy_pass", command, core, port=port, log=folder / "output.log")
