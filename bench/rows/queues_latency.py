"""One ordered message from its commit to who waits, a completion to the next slice, the end of a hold to who waits at the cap."""

import statistics
import subprocess
import time

from harness.figures import Figure
from harness.queues import make_queue
from harness.servers import Tenure
from rows.wake_three import Waiting, call

NAME = "queues-latency"
ONE_PROCESS_MS, ACROSS_MS = 10, 50
IDLE_PERCENT = 1
ACCEPT = {"consumer": "bench", "wait_ms": 60000}


def post(server, action, body):
    return call(server, f"queues/bench/{action}", body)


def waiting(server):
    """Who waits has asked and found nothing by then."""
    found = Waiting(server, "queues/bench/accept", ACCEPT)
    time.sleep(0.02)
    return found


def complete(server, held, **more):
    item = {"session": held["session"], "fence": held["fence"], "sequence": held["messages"][-1]["sequence"], **more}
    return post(server, "complete", {"sessions": [item]})["sessions"][0]


def handed_out(send, consumes):
    """From the answer to a send."""
    consumer = waiting(consumes)
    sent = send()
    held = consumer.join().answer["sessions"][0]
    complete(consumes, held)
    return consumer.at - sent


def by_http(server):
    def send():
        post(server, "messages", {"session_key": "k", "payload": 1})
        return time.time()
    return send


class Psql:
    """A user's transactions, each of one statement, on one connection."""

    def __init__(self, bench):
        self.child = subprocess.Popen(["psql", *bench.postgres.address, "-X", "-q", "-A", "-t", "tenure"], text=True, bufsize=1,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self):
        self.child.stdin.write("select tenure.queue_send('bench', 'k', '1');\n")
        self.child.stdin.flush()
        self.child.stdout.readline()
        return time.time()

    def stop(self):
        self.child.stdin.close()
        self.child.wait()


def next_slice(server):
    """From the call that completes a message to its answer, which has the next one."""
    post(server, "messages", {"messages": [{"session_key": "k", "payload": i} for i in range(2)]})
    held = post(server, "accept", {**ACCEPT, "max_messages": 1})["sessions"][0]
    begun = time.time()
    after = complete(server, held, max_messages=1)
    took = time.time() - begun
    complete(server, {**held, "messages": after["messages"]})
    return took


def at_the_cap(ends, consumes):
    """From the answer that ends the one hold to the session of who waits for the place."""
    for key in ("k", "l"):
        post(ends, "messages", {"session_key": key, "payload": 1})
    first = post(ends, "accept", ACCEPT)["sessions"][0]
    consumer = waiting(consumes)
    complete(ends, first)
    ended = time.time()
    held = consumer.join().answer["sessions"][0]
    complete(consumes, held)
    return consumer.at - ended


def idle_percent(bench, server, also):
    seconds = max(10, bench.seconds)
    bench.postgres.sql("vacuum analyze", "tenure")
    consumer = Waiting(server, "queues/bench/accept", ACCEPT)
    time.sleep(2)
    counted = [server.process, *also]
    before, begun = sum(p.cpu_seconds() for p in counted), time.monotonic()
    time.sleep(seconds)
    used = 100 * (sum(p.cpu_seconds() for p in counted) - before) / (time.monotonic() - begun)
    post(server, "messages", {"session_key": "k", "payload": 1})
    complete(server, consumer.join().answer["sessions"][0])
    return used


def measure(bench):
    figures = {}

    def take(what, most, once, unit="ms"):
        figure = figures.setdefault(what, Figure(NAME, what, "the longest allowed" if unit == "ms" else "the most allowed",
                                                 unit, 1, "<="))
        if unit == "ms":
            times = sorted(max(0.001, 1000 * once()) for _ in range(50 if bench.quick else 300))
            figure.ours.append(times[int(len(times) * 0.99) - 1])
            figure.notes[f"{what}: median, most"] = f"{statistics.median(times):.2f}, {times[-1]:.2f} ms"
        else:
            figure.ours.append(max(0.001, once()))
        figure.peer.append(most)

    for _ in range(bench.repeat):
        with Tenure(bench, bench.new_folder()) as server:
            make_queue(server.port, 1)
            take("SQLite, one server, p99", ONE_PROCESS_MS, lambda: handed_out(by_http(server), server))
            take("SQLite, complete to the next slice, p99", ONE_PROCESS_MS, lambda: next_slice(server))
            take("SQLite, end of a hold to who waits at the cap, p99", ONE_PROCESS_MS, lambda: at_the_cap(server, server))
        bench.postgres.fresh_database("tenure")
        store = bench.postgres.url("tenure")
        with Tenure(bench, bench.new_folder(), store) as one, Tenure(bench, bench.new_folder(), store) as two:
            make_queue(one.port, 1)
            take("PostgreSQL, one server, p99", ONE_PROCESS_MS, lambda: handed_out(by_http(one), one))
            take("PostgreSQL, complete to the next slice, p99", ONE_PROCESS_MS, lambda: next_slice(one))
            take("PostgreSQL, two servers, p99", ACROSS_MS, lambda: handed_out(by_http(two), one))
            user = Psql(bench)
            take("select tenure.queue_send(…), p99", ACROSS_MS, lambda: handed_out(user.send, one))
            user.stop()
            take("end of a hold to who waits at the cap, two servers, p99", ACROSS_MS, lambda: at_the_cap(one, two))
            take("processor time, an accept waiting, two servers and PostgreSQL", IDLE_PERCENT,
                 lambda: idle_percent(bench, one, [two.process, bench.postgres.process]), "%")
    return list(figures.values())
