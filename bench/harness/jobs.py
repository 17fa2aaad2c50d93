"""Jobs of a Tenure server, asked and counted over HTTP; and the peers' schedules."""

import http.client
import json
import threading
import time

from .messages import PEERS, install_peers
from .process import run

TOPIC = "due"


class Client:
    """One connection that stays."""

    def __init__(self, tenure):
        self.connection = http.client.HTTPConnection("127.0.0.1", tenure.port, timeout=90)

    def call(self, method, path, body=None):
        self.connection.request(method, "/api/v1/" + path, json.dumps(body) if body is not None else None,
                                {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status // 100 != 2:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:200]}")
        return json.loads(text) if text else None


def put_jobs(tenure, count, body_of, clients=8):
    """Makes `count` jobs, several at a time."""
    faults = []

    def some(first):
        try:
            client = Client(tenure)
            for i in range(first, count, clients):
                client.call("PUT", f"jobs/job-{i}", body_of(i))
        except Exception as fault:  # told to whoever joins
            faults.append(fault)

    threads = [threading.Thread(target=some, args=(first,)) for first in range(clients)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if faults:
        raise faults[0]


def instant(seconds):
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds * 1000) % 1000:03d}Z"


def claim_all(tenure, count, due):
    """Claims and acknowledges until each of `count` jobs has had its run; seconds from `due` to the last claim."""
    client, seen, last = Client(tenure), set(), due
    deadline = due + 120
    while len(seen) < count:
        if time.time() > deadline:
            raise RuntimeError(f"{count - len(seen)} of {count} jobs were not claimed")
        found = client.call("POST", "messages/claim", {"topics": [TOPIC], "owner": "bench", "max": 1000,
                                                       "wait_ms": 5000})["messages"]
        if not found:
            continue
        last = time.time()
        for each in found:
            name = each["headers"]["tenure-job"]
            if name in seen:
                raise RuntimeError(f"{name} ran twice")
            seen.add(name)
        client.call("POST", "messages/ack", {"claims": [{"id": one["id"], "fence": one["fence"]} for one in found]})
    return last - due


def peer_due(bench, program, count):
    """The same of a peer, which has two minutes: seconds from the full minute at which all are due to the last one that it
    handled, and how many these were."""
    install_peers()
    bench.postgres.fresh_database("peer")
    found = json.loads(run(["node", program, "--url", bench.postgres.url("peer"), "--count", str(count)],
                           timeout=400, cwd=PEERS))
    if not found["handled"]:
        raise RuntimeError(f"{program}: none of {count} jobs was handled")
    return found["seconds"], found["handled"]
