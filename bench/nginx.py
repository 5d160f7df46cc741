"""nginx with one worker, which answers with fixed bytes or forwards requests."""
import os
import pwd
import shutil

import servers

TEMPLATE = """
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
  {buffers}
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=16 inactive=1h;
  open_file_cache_valid 1h;
  {outside}
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    location = /mcp {{ {answer} }}
    location = /answer.json {{ internal; root {folder}; }}
  }}
}}
"""

UPSTREAM = """upstream backend {{
    server 127.0.0.1:{port};
    keepalive 64;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
  }}"""
# By default, Host would be the name of the upstream block, which servers on loopback do not accept.
HEADERS = 'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;'
# Lets nginx read a request at once, or in few reads up to 64 KB. With its defaults it reads a call of 1 KB in two.
LARGE_BUFFERS = "client_header_buffer_size 4k; client_body_buffer_size 128k;"
# Enough for an answer of 64 KB, which nginx would otherwise write to a file in part.
WHOLE_ANSWERS = " proxy_buffers 8 32k;"
AS_IT_COMES = " proxy_buffering off;"

# nginx's configuration does not accept a longer parameter. Longer answers are served from a file, with one sendfile.
LONGEST_RETURN = 3000


def fixed(bench, core, answer, name="nginx", buffers=LARGE_BUFFERS):
    """Starts an nginx that answers every POST with the bytes of `answer`."""
    folder = bench.place(name)
    text = answer.decode()
    if len(answer) <= LONGEST_RETURN and not set("'\\$") & set(text):
        return _start(name, folder, core, "", f"return 200 '{text}';", buffers)
    (folder / "answer.json").write_bytes(answer)
    # nginx rejects a POST to a file, but the error page of that rejection may be the file.
    how = f"error_page 405 =200 /answer.json; try_files /answer.json =404; root {folder};"
    return _start(name, folder, core, "", how, buffers)


def proxy(bench, core, backend, streams=False):
    """Starts an nginx that forwards every request to the back end; with `streams` it does not buffer answers."""
    how = HEADERS + " proxy_pass http://backend;" + (AS_IT_COMES if streams else WHOLE_ANSWERS)
    outside = UPSTREAM.format(port=backend.port)
    return _start("nginx proxy_pass", bench.place("nginx"), core, outside, how)


def _start(name, folder, core, outside, answer, buffers=LARGE_BUFFERS):
    found = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if not found:
        raise RuntimeError("nginx is not installed")
    configuration = folder / "nginx.conf"
    user = pwd.getpwuid(os.getuid()).pw_name
    port = servers.free_port()
    configuration.write_text(
        TEMPLATE.format(folder=folder, port=port, user=user, outside=outside, answer=answer, buffers=buffers)
    )
    command = [found, "-p", folder, "-e", folder / "error.log", "-c", configuration]
    return servers.Server(name, command, core, folder / "log", port=port)
