"""Messages pushed to a local receiver (nginx, TLS, 204), 16 in flight, against the same receiver fed by wrk."""

import time

from harness.clients import wrk
from harness.figures import Figure, in_turns
from harness.process import Failed
from harness.receivers import Pusher, TlsNginx

NAME = "push-rate"
IN_FLIGHT = 16
MOST_PER_SECOND = 25_000
PAYLOAD = {"order": 7, "text": "x" * 180}
ENGINES = ("PostgreSQL", "SQLite")


def _pushed(server):
    return server.metric("push_delivered_total")


def _push(bench, receiver, engine):
    store = None
    if engine == "PostgreSQL":
        bench.postgres.fresh_database("push")
        store = bench.postgres.url("push")
    with Pusher(bench, bench.new_folder(), receiver.ca_file, store) as server:
        server.enqueue("orders", MOST_PER_SECOND * (bench.seconds + 2), PAYLOAD)
        counted = [server.process] + ([bench.postgres.process] if store else [])
        server.subscribe("s", "orders", receiver.url, max_in_flight=IN_FLIGHT)
        while _pushed(server) < 1_000:
            time.sleep(0.02)
        begun, before, used = time.monotonic(), _pushed(server), sum(p.cpu_seconds() for p in counted)
        time.sleep(bench.seconds)
        after, seconds = _pushed(server), time.monotonic() - begun
        used = sum(p.cpu_seconds() for p in counted) - used
        if server.call("GET", "topics/orders")["ready"] == 0:
            raise Failed("the topic ran empty: raise MOST_PER_SECOND")
        failed = server.call("GET", "subscriptions/s")["failed"]
        if failed:
            raise Failed(f"{failed} deliveries failed")
        return {"rate": (after - before) / seconds, "server_cpu_us": 1e6 * used / (after - before), "client_cpu_us": 0}


def measure(bench):
    figures = []
    for engine in ENGINES:
        with TlsNginx(bench.new_folder()) as receiver:
            figures.append(in_turns(
                Figure(NAME, f"pushed messages, {engine}, {IN_FLIGHT} in flight", "wrk to the same receiver", "/s", 0.4,
                       ">="), bench.repeat,
                lambda: _push(bench, receiver, engine),
                lambda: wrk("post_event.lua", receiver.url, IN_FLIGHT, bench.seconds)["rate"]))
    return figures
