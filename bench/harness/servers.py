"""What is measured and what it is measured against: Tenure, nginx and a PostgreSQL cluster."""

import contextlib
import http.client
import os
import pwd
import re
import shutil
import socket
from pathlib import Path

from .process import Failed, Process, run

POSTGRES_BIN = Path("/usr/lib/postgresql/15/bin")

# Durable, and large enough that no checkpoint falls into a measurement.
POSTGRES_SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "30min",
    "max_connections": "300",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "''",
}

NGINX_SETTINGS = "worker_processes 1, access_log off, keepalive_requests 1e9, return 200"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# The tenant of every session of the benchmark, and of the token.
TENANT = "11111111-1111-4111-8111-111111111111"
SCOPES = "sessions:read sessions:write leases:read leases:write messages:read messages:write ops:read"


@contextlib.contextmanager
def authentication(bench):
    """Inside of it every new Tenure asks for tokens (HS256), and every client shows one."""
    key = bench.new_folder() / "key.json"
    run([bench.tenure, "token", "keygen", "--algorithm", "HS256", "--out", key])
    bench.settings += (asked := ["auth.issuer=tenure", "auth.audience=tenure", f"auth.keys={key}"])
    os.environ["BENCH_TOKEN"] = run([bench.tenure, "token", "issue", "--key", key, "--tenant", TENANT, "--person",
                                     "bench", "--ttl", "24h", "--scope", SCOPES]).strip()
    try:
        yield
    finally:
        del os.environ["BENCH_TOKEN"]
        del bench.settings[-len(asked):]


def _authorization():
    token = os.environ.get("BENCH_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}


class Tenure:
    """One `tenure serve`. `store` is a postgres:// address, or None for SQLite in `folder`."""

    def __init__(self, bench, folder, store=None, cpus=None, settings=()):
        argv = [bench.tenure, "serve", "--listen", "127.0.0.1:0", "--data", Path(folder) / "data"]
        if store:
            argv += ["--store", store]
        for setting in ("log.level=warn", *bench.settings, *settings):
            argv += ["--set", setting]
        self.process = Process("tenure", argv, folder, cpus=cpus)
        self.port = int(self.process.wait_until(self._listening).group(1))

    def _listening(self):
        return re.search(r"listens on http://127\.0\.0\.1:(\d+)", self.process.text())

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/sessions"

    def _metrics(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", "/metrics", headers=_authorization())
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def answers(self):
        """How many PUTs were answered so far, by status; from the server's own metrics."""
        found = {}
        for labels, value in re.findall(r"^tenure_http_requests_total\{([^}]*)\} (\d+)$", self._metrics(), re.M):
            if 'route="putSession"' in labels:
                found[int(re.search(r'status="(\d+)"', labels).group(1))] = int(value)
        return found

    def metric(self, name):
        """One that has no labels; 0 when it is not there, as before its first event."""
        found = re.search(rf"^{name} (\S+)$", self._metrics(), re.M)
        return float(found.group(1)) if found else 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()


class Nginx:
    """Answers every request with `size` bytes, headers included."""

    def __init__(self, folder, size, body_size):
        self.port = free_port()
        self.folder = Path(folder)
        plain = self._start(body_size, None)
        missing = size - plain
        if missing >= len("X-P: x\r\n"):
            self.stop()
            self._start(body_size, "x" * (missing - len("X-P: \r\n")))

    def _start(self, body_size, padding):
        (self.folder / "nginx.conf").write_text(f"""
worker_processes 1;
daemon off;
pid {self.folder}/nginx.pid;
error_log {self.folder}/nginx-error.log;
{"user root;" if os.geteuid() == 0 else ""}
events {{ worker_connections 4096; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path {self.folder}/nginx-body;
  proxy_temp_path {self.folder}/nginx-proxy;
  fastcgi_temp_path {self.folder}/nginx-fastcgi;
  scgi_temp_path {self.folder}/nginx-scgi;
  uwsgi_temp_path {self.folder}/nginx-uwsgi;
  default_type application/json;
  server {{
    listen 127.0.0.1:{self.port};
    {f"add_header X-P {padding};" if padding else ""}
    location / {{ return 200 "{"x" * body_size}"; }}
  }}
}}
""")
        self.process = Process(
            "nginx", ["nginx", "-p", self.folder, "-c", self.folder / "nginx.conf"], self.folder)
        return self.process.wait_until(self._answers)

    def _answers(self):
        try:
            return response_size("127.0.0.1", self.port, "{}")
        except OSError:
            return 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/sessions"

    def stop(self):
        self.process.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def put(host, port, body):
    """One PUT /sessions on a connection of its own; returns all bytes of the answer."""
    request = (f"PUT /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
               f"Content-Length: {len(body)}\r\n\r\n{body}")
    with socket.create_connection((host, port), timeout=10) as link:
        link.sendall(request.encode())
        answer = b""
        while True:
            head, separator, rest = answer.partition(b"\r\n\r\n")
            if separator:
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                if len(rest) >= int(length.group(1)):
                    return answer
            piece = link.recv(65536)
            if not piece:
                raise Failed(f"a connection was closed in the middle of an answer: {answer!r}")
            answer += piece


def response_size(host, port, body):
    return len(put(host, port, body))


class Postgres:
    """A cluster of its own in a temporary folder. initdb refuses root: then it runs as `postgres`."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.user = "postgres" if os.geteuid() == 0 else None
        self.role = self.user or pwd.getpwuid(os.geteuid()).pw_name
        data = self.folder / "pgdata"
        data.mkdir()
        if self.user:
            shutil.chown(data, self.user, self.user)
            for parent in (self.folder, self.folder.parent):
                parent.chmod(parent.stat().st_mode | 0o011)
        run([POSTGRES_BIN / "initdb", "-D", data, "-A", "trust", "-E", "UTF8", "--locale=C",
             "-U", self.role], user=self.user, cwd=data)
        self.port = free_port()
        argv = [POSTGRES_BIN / "postgres", "-D", data, "-p", str(self.port)]
        for name, value in POSTGRES_SETTINGS.items():
            argv += ["-c", f"{name}={value.strip(chr(39))}"]
        # The log is in the parent folder, which is ours; the server itself only needs its data.
        self.process = Process("postgres", argv, self.folder, user=self.user)
        self.process.wait_until(self._ready)

    def _ready(self):
        return "accepting connections" in run(
            [POSTGRES_BIN / "pg_isready", "-h", "127.0.0.1", "-p", str(self.port)], check=False)

    @property
    def address(self):
        return ["-h", "127.0.0.1", "-p", str(self.port), "-U", self.role]

    def url(self, database):
        return f"postgres://{self.role}@127.0.0.1:{self.port}/{database}"

    def sql(self, text, database="postgres"):
        """Runs SQL and returns its rows, unaligned, one per line."""
        return run(["psql", *self.address, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c",
                    text, database]).strip()

    def fresh_database(self, name, template=None):
        self.sql(f"drop database if exists {name} with (force)")
        self.sql(f"create database {name}" + (f" template {template}" if template else ""))
        self.sql("checkpoint")

    def stop(self):
        import signal
        self.process.stop(signal.SIGINT)  # fast shutdown

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
