"""Who waits at one of three servers on PostgreSQL: from the moment it could have its turn until it has it."""

import datetime
import http.client
import json
import threading
import time
import uuid

from harness.figures import Figure
from harness.servers import Tenure

NAME = "wake-three"
NEARLY_ALL_MS, MOST_MS = 50, 100
AT_ONCE = 4


def call(server, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=90)
    try:
        connection.request("POST", "/api/v1/" + path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status // 100 != 2:
            raise RuntimeError(f"{path}: {answer.status} {text[:200]}")
        return json.loads(text)
    finally:
        connection.close()


class Waiting:
    """A request that waits at a server, in a thread; `at` is when it was answered."""

    def __init__(self, server, path, body):
        self.thread = threading.Thread(target=self._run, args=(server, path, body))
        self.at, self.answer, self.fault = None, None, None
        self.thread.start()

    def _run(self, server, path, body):
        try:
            self.answer = call(server, path, body)
            self.at = time.time()
        except Exception as fault:  # told to whoever joins
            self.fault = fault

    def join(self):
        self.thread.join()
        if self.fault:
            raise self.fault
        return self


def claim_body(topic, **more):
    return {"topics": [topic], "owner": "bench", "max": 1, **more}


def settle(server, path, message, **more):
    call(server, "messages/" + path, {"claims": [{"id": message["id"], "fence": message["fence"], **more}]})


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def timer(servers, topic, turn):
    """From a timer's time, as the store knows it."""
    waiting = Waiting(servers[turn % 3], "messages/claim", claim_body(topic, wait_ms=60000))
    due = time.time() + 0.15
    text = datetime.datetime.fromtimestamp(due, datetime.timezone.utc).isoformat(timespec="milliseconds")
    call(servers[(turn + 1) % 3], "timers", {"topic": topic, "payload": 1, "due_at": text})
    message = waiting.join().answer["messages"][0]
    settle(servers[turn % 3], "ack", message)
    return waiting.at - instant(text)


def retry(servers, topic, turn):
    """From the moment for which a failed message asked."""
    call(servers[turn % 3], "messages", {"topic": topic, "payload": 1})
    message = call(servers[turn % 3], "messages/claim", claim_body(topic, wait_ms=60000))["messages"][0]
    waiting = Waiting(servers[(turn + 1) % 3], "messages/claim", claim_body(topic, wait_ms=60000))
    time.sleep(0.02)
    settle(servers[(turn + 2) % 3], "abandon", message, retry_after_ms=100)
    due = time.time() + 0.1
    message = waiting.join().answer["messages"][0]
    settle(servers[turn % 3], "ack", message)
    return waiting.at - due


def six(servers, topic, turn):
    """From the answer to an enqueue of six until the last of six consumers has one."""
    waiting = [Waiting(servers[i % 3], "messages/claim", claim_body(topic, wait_ms=60000)) for i in range(6)]
    time.sleep(0.05)
    call(servers[turn % 3], "messages", {"messages": [{"topic": topic, "payload": i} for i in range(6)]})
    sent = time.time()
    for each in waiting:
        settle(servers[turn % 3], "ack", each.join().answer["messages"][0])
    return max(each.at for each in waiting) - sent


def expiry(servers, name, turn):
    """From the deadline of a holder that fell silent until the next has the lease."""
    def ask(**more):
        return {"term": str(uuid.uuid4()), "ttl_ms": 300, "holder": "bench", **more}
    name += f"-{turn}"
    grant = call(servers[turn % 3], f"leases/{name}/acquire", ask())
    waiting = Waiting(servers[(turn + 1) % 3], f"leases/{name}/acquire", ask(wait_ms=60000)).join()
    return waiting.at - instant(grant["expires_at"])


def take(bench, figures, servers, what, once):
    """Several at a time, each with a topic or name of its own."""
    count = 12 if bench.quick else 1000
    found, faults = [], []

    def work(part):
        topic = f"wake-{uuid.uuid4()}"
        try:
            for turn in range(part, count, AT_ONCE):
                found.append(max(once(servers, topic, turn), 0) * 1000)
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(part,)) for part in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    found.sort()
    for name, value, most in (("p99", found[int(len(found) * 0.99) - 1], NEARLY_ALL_MS), ("most", found[-1], MOST_MS)):
        figure = figures.setdefault((what, name), Figure(
            NAME, f"{what}, {name} of {len(found)}", "the longest allowed", "ms", 1, "<="))
        figure.ours.append(value)
        figure.peer.append(most)


def measure(bench):
    figures = {}
    for _ in range(bench.repeat):
        bench.postgres.fresh_database("tenure")
        store = bench.postgres.url("tenure")
        with Tenure(bench, bench.new_folder(), store) as one, Tenure(bench, bench.new_folder(), store) as two, \
                Tenure(bench, bench.new_folder(), store) as three:
            servers = (one, two, three)
            for what, once in (("a timer", timer), ("retry_after_ms", retry), ("six consumers, six messages", six),
                               ("a lease that expires", expiry)):
                take(bench, figures, servers, what, once)
    return list(figures.values())
