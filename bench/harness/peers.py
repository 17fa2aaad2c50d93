"""What leases are measured against: etcd and Redis, each in a temporary folder of its own."""

import json
import re
import socket
import struct
import urllib.request
from pathlib import Path

from .process import Failed, Process, run
from .servers import free_port

ETCD_SETTINGS = "one member, data on disk, fsync on (defaults), quota 8 GiB, log level error"
REDIS_SETTINGS = "appendonly yes, appendfsync always, no snapshots"


class Etcd:
    """One member. It speaks gRPC and, through its gateway, JSON over HTTP/1.1, on one port."""

    def __init__(self, folder):
        self.port, peer_port = free_port(), free_port()
        client, peer = (f"http://127.0.0.1:{port}" for port in (self.port, peer_port))
        self.process = Process("etcd", [
            "etcd", "--name", "bench", "--data-dir", Path(folder) / "etcd", "--log-level", "error",
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"bench={peer}", "--quota-backend-bytes", str(8 << 30)], folder)
        self.process.wait_until(self._healthy)

    def _get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return answer.read().decode()

    def _healthy(self):
        try:
            return json.loads(self._get("/health")).get("health") == "true"
        except OSError:
            return False

    def counter(self, name):
        found = re.search(rf"^{name} (\S+)$", self._get("/metrics"), re.M)
        return float(found.group(1)) if found else 0.0

    def grpc_rate(self, folder, method, message, connections, seconds):
        """Calls of one method with the same message, by h2load: how fast etcd is without its gateway."""
        body = Path(folder) / "grpc.body"
        body.write_bytes(b"\0" + struct.pack(">I", len(message)) + message)
        out = run(["h2load", "-c", connections, "-m", 1, "-t", 1, "-D", seconds, "--warm-up-time", 1,
                   "-d", body, "-H", "content-type: application/grpc", "-H", "te: trailers",
                   f"http://127.0.0.1:{self.port}/etcdserverpb.{method}"], timeout=seconds + 60)
        rate = re.search(r"finished in [\d.]+\w+, ([\d.]+) req/s", out)
        failed = re.search(r"(\d+) failed, (\d+) errored, (\d+) timeout", out)
        if not rate or any(int(n) for n in failed.groups()):
            raise Failed(f"h2load {method}:\n{out}")
        return float(rate.group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()


class Redis:
    def __init__(self, folder, durable=True):
        self.port = free_port()
        kept = ["--appendonly", "yes", "--appendfsync", "always"] if durable else []
        self.process = Process("redis", [
            "redis-server", "--port", self.port, "--bind", "127.0.0.1", "--dir", folder, "--save", "", *kept], folder)
        self.process.wait_until(self._answers)

    def _answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as link:
                link.sendall(b"PING\r\n")
                return link.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()


# The messages that grpc_rate sends, in protobuf: only what these calls need.

def _varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, value):
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def grant_message(ttl_s=30):
    return _number(1, ttl_s)


def lease_message(lease):
    """Of LeaseRevoke and LeaseKeepAlive."""
    return _number(1, lease)


def create_message(lease):
    """A transaction that always succeeds: an absent key is absent, so another is put, with the lease."""
    absent = _number(1, 0) + _number(2, 1) + _bytes(3, b"absent") + _number(5, 0)
    put = _bytes(1, b"bench/0123456789abcdef") + _bytes(2, b"x" * 36) + _number(3, lease)
    return _bytes(1, absent) + _bytes(2, _bytes(2, put))
