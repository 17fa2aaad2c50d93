"""A seat that changes hands: from its release until the first in line has it, one server and two."""

import statistics
import threading
import time

from harness.figures import Figure
from harness.seats import Client, make_licenses, serve

NAME = "seats-handover"
ONE_SERVER_MS, TWO_SERVERS_MS = 10, 50


class Waiter(threading.Thread):
    """Asks for the seat and waits for it."""

    def __init__(self, server, key, machine):
        super().__init__(daemon=True)
        self.client, self.body = Client(server), {"license_key": key, "machine_id": machine, "wait_seconds": 30}
        self.session, self.had = None, 0.0

    def run(self):
        self.session = self.client.call("POST", "/acquire", self.body)[1]["session_id"]
        self.had = time.perf_counter()


def p99_ms(bench, waits, releases):
    license_id, key = make_licenses(waits, 1, 1)[0]
    operator, releaser = Client(waits), Client(releases)
    session = operator.call("POST", "/acquire", {"license_key": key, "machine_id": "first"})[1]["session_id"]
    times = []
    for i in range(100 if bench.quick else 500):
        waiter = Waiter(waits, key, f"m{i}")
        waiter.start()
        while operator.call("GET", f"/{license_id}")[1]["waiting"] == 0:
            time.sleep(0.001)
        begun = time.perf_counter()
        releaser.call("DELETE", f"/sessions/{session}")
        waiter.join()
        times.append(1000 * (waiter.had - begun))
        session = waiter.session
    return statistics.quantiles(times, n=100)[98], statistics.median(times)


def measure(bench):
    figures = []

    def take(what, limit_ms, waits, releases):
        p99, middle = p99_ms(bench, waits, releases)
        figures.append(Figure(NAME, f"hand-over on release, {what}, p99", "the longest allowed", "ms", 1, "<=",
                              ours=[p99], peer=[limit_ms], notes={f"{what}, median": f"{middle:.2f} ms"}))

    with serve(bench) as server:
        take("SQLite", ONE_SERVER_MS, server, server)
    bench.postgres.fresh_database("tenure")
    with serve(bench, bench.postgres.url("tenure")) as one:
        take("PostgreSQL", ONE_SERVER_MS, one, one)
        with serve(bench, bench.postgres.url("tenure")) as other:
            take("two servers on PostgreSQL", TWO_SERVERS_MS, other, one)
    return figures
