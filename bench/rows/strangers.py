"""Renewals and PUT /sessions beside a user's open transaction that called tenure.enqueue, against the same without."""

import http.client
import json
import subprocess
import threading
import time
import uuid

from harness.figures import Figure
from harness.servers import Tenure

NAME = "strangers"
GOAL = 1.5
HOLDERS, TTL_MS = 8, 1500


class Client:
    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def call(self, method, path, body):
        begun = time.perf_counter()
        self.connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text), (time.perf_counter() - begun) * 1000


def holder(server, seconds, renewals):
    """Holds a lease and renews it every third of its ttl; a loss is an error."""
    client, path, term = Client(server), f"/api/v1/leases/bench-{uuid.uuid4()}", str(uuid.uuid4())
    _, grant, _ = client.call("POST", path + "/acquire", {"term": term, "ttl_ms": TTL_MS, "holder": "bench"})
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(TTL_MS / 3000 / 10)
        status, _, ms = client.call("POST", path + "/renew", {"term": term, "fence": grant["fence"]})
        if status != 200:
            raise RuntimeError(f"a lease was lost: {status}")
        renewals.append(ms)


def putter(server, seconds, puts):
    client, until = Client(server), time.monotonic() + seconds
    while time.monotonic() < until:
        body = {"userObjectId": str(uuid.uuid4()), "tenantObjectId": str(uuid.uuid4()),
                "capacityId": str(uuid.uuid4()), "sessionKind": 1}
        status, answer, ms = client.call("PUT", "/sessions", body)
        if status != 201:
            raise RuntimeError(f"PUT: {status} {answer}")
        puts.append(ms)


def sender(server, seconds, topic):
    client, until = Client(server), time.monotonic() + seconds
    while time.monotonic() < until:
        status, answer, _ = client.call("POST", "/api/v1/messages", {"topic": topic, "payload": 1})
        if status != 201:
            raise RuntimeError(f"enqueue: {status} {answer}")
        time.sleep(0.01)


def p99(numbers):
    return sorted(numbers)[int(len(numbers) * 0.99) - 1]


def stretch(bench, server, topic):
    renewals, puts, faults = [], [], []

    def guarded(work, *arguments):
        try:
            work(*arguments)
        except Exception as fault:
            faults.append(fault)

    work = [(holder, server, bench.seconds, renewals)] * HOLDERS
    work += [(putter, server, bench.seconds, puts), (sender, server, bench.seconds, topic)]
    threads = [threading.Thread(target=guarded, args=each) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return p99(renewals), p99(puts)


def measure(bench):
    figures = [Figure(NAME, f"{what}, {HOLDERS} holders of {TTL_MS} ms, p99", "itself without the transaction", "ms",
                      GOAL, "<=") for what in ("renew", "PUT /sessions")]
    for _ in range(bench.repeat):
        bench.postgres.fresh_database("tenure")
        store = bench.postgres.url("tenure")
        with Tenure(bench, bench.new_folder(), store) as server:
            topic = f"new-{uuid.uuid4()}"
            for figure, value in zip(figures, stretch(bench, server, f"other-{topic}")):
                figure.peer.append(value)
            # It sends to a topic that has no row, and stays open.
            user = subprocess.Popen(["psql", "-q", store], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            try:
                user.stdin.write(f"begin; select tenure.enqueue('{topic}', '1');\n")
                user.stdin.flush()
                time.sleep(0.5)
                for figure, value in zip(figures, stretch(bench, server, topic)):
                    figure.ours.append(value)
            finally:
                user.kill()
                user.wait()
    return figures
