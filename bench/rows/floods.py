"""What others wait while strangers flood one server, and what clients that only wait cost it."""

import contextlib
import json
import os
import socket
import statistics
import threading
import time

from harness.figures import Figure
from harness.servers import Tenure, authentication

NAME = "floods"
LONGEST_P99_MS = 100
STRANGERS = 50
IDLE_CLIENTS = 200
TOPICS = 100


def _request(method, path, body="", token=None):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def _answer(link):
    """The status of one answer."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = link.recv(65536)
        if not piece:
            raise OSError("closed")
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
    while len(rest) < length:
        rest += link.recv(65536)
    return int(head.split(b" ")[1])


class Flood:
    """Strangers that send `bytes_` again and again; those that `read` take the answers, the others do not."""

    def __init__(self, port, bytes_, read):
        self.port, self.bytes, self.read = port, bytes_, read
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(STRANGERS)]

    def _run(self):
        while not self.stopping.is_set():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=0.2) as link:
                while not self.stopping.is_set():
                    with contextlib.suppress(TimeoutError):
                        link.sendall(self.bytes)
                    while self.read and link.recv(1 << 20):
                        pass

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()


def _p99_ms(port, request, seconds):
    taken = []
    end = time.monotonic() + seconds
    with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
        while time.monotonic() < end:
            begun = time.monotonic()
            link.sendall(request)
            assert _answer(link) == 200
            taken.append((time.monotonic() - begun) * 1000)
    return statistics.quantiles(taken, n=100)[98]


def _wrong_signatures(bench):
    with authentication(bench), Tenure(bench, bench.new_folder()) as tenure:
        good = os.environ["BENCH_TOKEN"]
        head = good[:good.rindex(".") + 1]
        flood = b"".join(_request("GET", "/health", token=head + f"{i:0>43}") for i in range(500))
        with Flood(tenure.port, flood, read=True):
            return _p99_ms(tenure.port, _request("GET", "/health", token=good), bench.seconds)


def _unread_answers(bench):
    with Tenure(bench, bench.new_folder()) as tenure:
        with Flood(tenure.port, _request("GET", "/openapi.json") * 500, read=False):
            return _p99_ms(tenure.port, _request("GET", "/health"), bench.seconds)


def _idle_claims_cores(bench):
    """The share of a core that clients cost which wait for a hundred topics each, where nothing happens."""
    topics = [f"t{i}" for i in range(TOPICS)]
    claim = _request("POST", "/api/v1/messages/claim",
                     json.dumps({"topics": topics, "owner": "bench", "wait_ms": 60_000}))
    with Tenure(bench, bench.new_folder()) as tenure, contextlib.ExitStack() as links:
        for _ in range(IDLE_CLIENTS):
            link = links.enter_context(socket.create_connection(("127.0.0.1", tenure.port)))
            link.sendall(claim)
        end = time.monotonic() + 30
        while tenure.metric("tenure_messages_waiting_claims") < IDLE_CLIENTS:
            if time.monotonic() > end:
                raise RuntimeError("not all of the clients wait")
            time.sleep(0.1)
        before, begun = tenure.process.cpu_seconds(), time.monotonic()
        time.sleep(bench.seconds)
        return (tenure.process.cpu_seconds() - before) / (time.monotonic() - begun)


def measure(bench):
    figures = []
    for what, one in (("wrong signatures, pipelined", _wrong_signatures), ("answers that nobody reads", _unread_answers)):
        figure = Figure(NAME, f"p99 of another client's GET, {STRANGERS} strangers: {what}", "the longest allowed", "ms",
                        1, "<=")
        for _ in range(bench.repeat):
            figure.ours.append(one(bench))
            figure.peer.append(LONGEST_P99_MS)
        figures.append(figure)
    idle = Figure(NAME, f"{IDLE_CLIENTS} claims that wait for {TOPICS} topics each", "a tenth of a core", "cores", 1, "<=")
    for _ in range(bench.repeat):
        idle.ours.append(_idle_claims_cores(bench))
        idle.peer.append(0.1)
    figures.append(idle)
    return figures
