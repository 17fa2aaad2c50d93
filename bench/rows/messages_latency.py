"""One message at a time, from its commit to who waits for it: in a process, across two, from SQL; idle and at half load."""

import time

from harness.figures import Figure, spread
from harness.messages import PEER_NAMES, Peer, library, over_http, place_of
from harness.process import Process
from harness.servers import Tenure

NAME = "messages-latency"
ONE_PROCESS_MS, ACROSS_MS = 10, 50
IDLE_PERCENT = 1


def limit(what, most, unit="ms"):
    return Figure(NAME, what, "the longest allowed" if unit == "ms" else "the most allowed", unit, 1, "<=",
                  peer=[most])


def reported(what):
    """A figure without a goal: it is shown, and nothing is demanded of it."""
    return Figure(NAME, what, "nothing", "ms", None, "<=")


def note(figure, found):
    figure.ours.append(found["from_commit"]["p99_us"] / 1000)
    figure.peer = figure.peer[:1] * len(figure.ours)
    figure.notes[f"{figure.what}, last run"] = {since: found[since] for since in ("from_call", "from_commit")}


def idle_percent(bench, tenure, also):
    """Processor time per second while one claim waits for messages that do not come."""
    seconds = max(20, bench.seconds)
    # What rows before left in the cluster would be vacuumed meanwhile, at our expense.
    for left in ("peer", "few", "many"):
        bench.postgres.sql(f"drop database if exists {left} with (force)")
    bench.postgres.sql("vacuum analyze", "tenure")
    waiting = Process("wait", [bench.load_program("messages_http"), "wait", "--port", tenure.port, "--seconds",
                               str(2 * seconds)], bench.new_folder())
    try:
        time.sleep(2)
        counted = [tenure.process, *also]
        before, begun = sum(p.cpu_seconds() for p in counted), time.monotonic()
        time.sleep(seconds)
        return 100 * (sum(p.cpu_seconds() for p in counted) - before) / (time.monotonic() - begun)
    finally:
        waiting.stop()


def half_load(bench, tenure):
    """Half of what this server enqueues and does in a second."""
    seconds = max(2, bench.seconds // 3)
    enqueue = over_http(bench, "enqueue", tenure.port, seconds=seconds)
    process = over_http(bench, "process", tenure.port, count=enqueue["jobs"])
    return int(0.5 / (1 / enqueue["rate"] + 1 / process["rate"]))


def measure(bench):
    count = 100 if bench.quick else 300
    inside = {engine: limit(f"library, one process, {engine}, idle, p99", ONE_PROCESS_MS)
              for engine in ("SQLite", "PostgreSQL")}
    one = {engine: limit(f"HTTP, one server, {engine}, idle, p99", ONE_PROCESS_MS)
           for engine in ("SQLite", "PostgreSQL")}
    busy = reported("HTTP, one server, PostgreSQL, half load, p99")
    across = limit("HTTP, two servers, PostgreSQL, idle, p99", ACROSS_MS)
    across_busy = reported("HTTP, two servers, PostgreSQL, half load, p99")
    sql = limit("select tenure.enqueue(…), idle, p99", ACROSS_MS)
    sql_busy = reported("select tenure.enqueue(…), half load, p99")
    idle = limit("processor time, one claim waiting, server and PostgreSQL", IDLE_PERCENT, "%")
    peers = {name: [] for name in PEER_NAMES}
    for _ in range(bench.repeat):
        for engine in inside:
            note(inside[engine], library(bench, "latency", place_of(bench, engine)[0], count=count))
        with Tenure(bench, bench.new_folder()) as server:
            note(one["SQLite"], over_http(bench, "latency", server.port, count=count))
        store, _ = place_of(bench, "PostgreSQL")
        with Tenure(bench, bench.new_folder(), store) as server, \
                Tenure(bench, bench.new_folder(), store) as other:
            elsewhere = {"enqueue_port": other.port}
            in_sql = {"store": store}
            note(one["PostgreSQL"], over_http(bench, "latency", server.port, count=count))
            note(across, over_http(bench, "latency", server.port, count=count, **elsewhere))
            note(sql, over_http(bench, "latency", server.port, count=count, **in_sql))
            idle.ours.append(max(0.001, idle_percent(bench, server, [bench.postgres.process])))
            idle.peer = [IDLE_PERCENT] * len(idle.ours)
            rate = half_load(bench, server)
            busy.notes["half load"] = f"{rate:,} messages/s enqueued, claimed and acknowledged"
            for figure, how in ((busy, {}), (across_busy, elsewhere), (sql_busy, in_sql)):
                note(figure, over_http(bench, "latency", server.port, count=count, load_rate=rate, **how))
        for name in PEER_NAMES:
            peers[name].append(Peer(bench, name).latency(count))
    idle.notes["peers, idle"] = {
        name: ", ".join(f"{p} {spread([r[f'{p}_us'] / 1000 for r in found])} ms" for p in ("p50", "p99"))
        for name, found in peers.items()}
    return [*inside.values(), *one.values(), busy, across, across_busy, sql, sql_busy, idle]
