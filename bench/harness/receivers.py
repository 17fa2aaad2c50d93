"""Endpoints that messages are pushed to: nginx with TLS, and a server that hangs, resets, redirects or notes arrivals."""

import base64
import contextlib
import http.client
import json
import os
import secrets
import socket

from .process import Process, run
from .servers import Tenure, free_port

BATCH = 1_000


def certificate(folder):
    """One that is its own authority, for 127.0.0.1."""
    run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-subj", "/CN=bench",
         "-addext", "subjectAltName=IP:127.0.0.1"])


class TlsNginx:
    """Answers every request 204, one worker."""

    def __init__(self, folder):
        self.port = free_port()
        certificate(folder)
        (folder / "nginx.conf").write_text(f"""
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log;
{"user root;" if os.geteuid() == 0 else ""}
events {{ worker_connections 4096; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path {folder}/nginx-body;
  proxy_temp_path {folder}/nginx-proxy;
  fastcgi_temp_path {folder}/nginx-fastcgi;
  scgi_temp_path {folder}/nginx-scgi;
  uwsgi_temp_path {folder}/nginx-uwsgi;
  server {{
    listen 127.0.0.1:{self.port} ssl;
    ssl_certificate {folder}/cert.pem;
    ssl_certificate_key {folder}/key.pem;
    location / {{ return 204; }}
  }}
}}
""")
        self.url = f"https://127.0.0.1:{self.port}/hook"
        self.ca_file = folder / "cert.pem"
        self.process = Process("nginx", ["nginx", "-p", folder, "-c", folder / "nginx.conf"], folder)
        self.process.wait_until(self._listens)

    def _listens(self):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()


class Pusher(Tenure):
    """A Tenure that may push to 127.0.0.1, and one connection to it."""

    def __init__(self, bench, folder, ca_file, store=None):
        keys = folder / "keys"
        keys.write_text(f"k:{base64.b64encode(secrets.token_bytes(32)).decode()}\n")
        keys.chmod(0o600)
        super().__init__(bench, folder, store, settings=(
            "push.allow=private 127.0.0.1", f"push.ca_file={ca_file}", f"secrets.key_file={keys}"))
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def call(self, method, path, body=None):
        self._connection.request(method, "/api/v1/" + path, None if body is None else json.dumps(body),
                                 {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status // 100 != 2:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text)

    def subscribe(self, name, topic, url, **more):
        self.call("PUT", f"subscriptions/{name}", {"topic": topic, "url": url, **more})

    def enqueue(self, topic, count, payload):
        for begin in range(0, count, BATCH):
            self.call("POST", "messages", {"messages": [{"topic": topic, "payload": payload}]
                                           * min(BATCH, count - begin)})
