"""A subscription whose endpoint is well, beside 1,000 that hang, reset and redirect: from enqueue to arrival, p99."""

import sys
import time
from pathlib import Path

from harness.figures import Figure
from harness.process import Process
from harness.receivers import Pusher, certificate
from harness.servers import free_port

NAME = "push-others"
PER_SECOND = 100
IN_FLIGHT = 10
TIMEOUT_MS = 60_000
#: One in twenty each.
ODD = ("reset", "redirect")


class Endpoints:
    def __init__(self, folder, name):
        self.ca_file = folder / "cert.pem"
        self.arrivals = folder / f"arrivals-{name}"
        port = free_port()
        self.url = f"https://127.0.0.1:{port}"
        program = Path(__file__).resolve().parent.parent / "harness" / "endpoints.py"
        self.process = Process(f"endpoints-{name}", [sys.executable, program, port, folder / "cert.pem", folder / "key.pem",
                                             self.arrivals], folder)
        self.process.wait_until(lambda: "listens" in self.process.text())

    def times(self):
        return [float(line) for line in self.arrivals.read_text().split()]

    def hanging(self):
        return self.arrivals.read_text().count("hangs")


def _p99(server, endpoints, seconds):
    """One message at a time, at a fixed rate."""
    seen = len(endpoints.times())
    count = PER_SECOND * seconds
    begun = time.monotonic()
    for i in range(count):
        time.sleep(max(0, begun + i / PER_SECOND - time.monotonic()))
        server.enqueue("well", 1, {"n": i})
    end = time.monotonic() + 60
    while len(endpoints.times()) < seen + count and time.monotonic() < end:
        time.sleep(0.05)
    times = sorted(endpoints.times()[seen:])
    if len(times) < count:
        raise RuntimeError(f"{len(times)} of {count} messages arrived")
    return times[int(0.99 * (len(times) - 1))]


def _await_rest(server, odd, least):
    """Until all that will hang does: for two seconds no further request came. Their handshakes are not what is measured."""
    end, before, since = time.monotonic() + 120, 0, time.monotonic()
    while time.monotonic() < end:
        hanging = odd.hanging()
        if hanging != before:
            before, since = hanging, time.monotonic()
        if hanging >= least and server.metric("push_in_flight") >= least and time.monotonic() - since > 2:
            return
        time.sleep(0.2)
    if before < least:
        raise RuntimeError(f"{before} requests hang, and not {least:.0f}")


def measure(bench):
    others = 100 if bench.quick else 1_000
    seconds = max(5, bench.seconds)
    figure = Figure(NAME, f"beside {others:,} that misbehave, p99", "itself alone", "ms", 1.5, "<=")
    in_flight = Figure(NAME, f"requests under way to {others:,} endpoints", "", "", None, ">=")
    memory = Figure(NAME, "the server's memory meanwhile", "", "KiB", None, "<=")
    for _ in range(bench.repeat):
        bench.postgres.fresh_database("push")
        folder = bench.new_folder()
        certificate(folder)
        # In a program of its own: who shares an event loop with thousands of handshakes measures these.
        well, odd = Endpoints(folder, "well"), Endpoints(folder, "odd")
        try:
            with Pusher(bench, bench.new_folder(), well.ca_file, bench.postgres.url("push")) as server:
                server.subscribe("well", "well", well.url + "/well")
                _p99(server, well, 1)
                figure.peer.append(_p99(server, well, seconds))
                for i in range(others):
                    how = ODD[i % 2] if i % 10 == 0 else "hang"
                    server.subscribe(f"o{i}", f"o{i}", f"{odd.url}/{how}/{i}", max_in_flight=IN_FLIGHT,
                                     timeout_ms=TIMEOUT_MS)
                    server.enqueue(f"o{i}", 3 * IN_FLIGHT, {"n": i})
                _await_rest(server, odd, 0.8 * 0.9 * others * IN_FLIGHT)
                in_flight.ours.append(server.metric("push_in_flight"))
                figure.ours.append(_p99(server, well, seconds))
                memory.ours.append(server.process.status_kib("VmRSS"))
        finally:
            well.process.stop()
            odd.process.stop()
    return [figure, in_flight, memory]
