"""100,000 leases that are held: renewing them all in few calls, memory for each, idle processor time."""

import time

from harness.figures import Figure, spread
from harness.leases import lease_load
from harness.process import Process
from harness.servers import Tenure

NAME = "leases-held"
LEASES, SMALL = 100_000, 20_000
WARM_UP = 20_000
BATCH = 2_000          # some 190 KB of JSON: well below http.max_body
RENEWING_S = 10        # a third of the default ttl: all are renewed before the next round begins
BYTES = 400
WAITERS = 1_000


def idle_percent(bench, tenure, also):
    """Processor time per second while `WAITERS` requests wait for leases that nobody releases."""
    waiting = Process("wait", [bench.load_program("leases"), "wait", "--port", tenure.port, "--count",
                               WAITERS], bench.new_folder())
    try:
        waiting.wait_until(lambda: tenure.metric("tenure_leasing_waiting_requests") == WAITERS)
        counted = [tenure.process, *also]
        before, begun = sum(p.cpu_seconds() for p in counted), time.monotonic()
        time.sleep(min(30, 2 * bench.seconds))
        used = sum(p.cpu_seconds() for p in counted) - before
        return 100 * used / (time.monotonic() - begun)
    finally:
        waiting.stop()


def hold(bench, store, also=()):
    count = SMALL if bench.quick else LEASES
    with Tenure(bench, bench.new_folder(), store) as tenure:
        lease_load(bench, "hold", port=tenure.port, count=WARM_UP, first=10**9, batch=BATCH)
        before = tenure.process.status_kib("VmRSS")
        held = lease_load(bench, "hold", port=tenure.port, count=count, batch=BATCH)
        held["bytes"] = (tenure.process.status_kib("VmRSS") - before) * 1024 / count
        held["idle"] = idle_percent(bench, tenure, also)
    return held


def figures_of(engine, results):
    def figure(what, unit, limit, key):
        return Figure(NAME, f"{what}, {engine}", "the most allowed", unit, 1, "<=",
                      ours=[max(r[key], 0.001) for r in results], peer=[limit] * len(results))
    last = results[-1]
    renewing = figure(f"renewing {last['leases']:,} held leases in {last['calls']} calls", "s",
                      RENEWING_S, "renewing_s")
    renewing.notes[f"{engine}: one call of {BATCH:,}"] = last["latency"]
    renewing.notes[f"{engine}: taking them one by one, 64 connections"] = f"{last['taking_s']} s"
    memory = figure("memory of the server for one of them", "bytes", BYTES, "bytes")
    memory.notes[f"{engine}: idle, {WAITERS:,} requests waiting, database included"] = (
        f"{spread([r['idle'] for r in results])} % of a core")
    return [renewing, memory]


def measure(bench):
    sqlite, postgres = [], []
    for _ in range(min(2, bench.repeat)):
        sqlite.append(hold(bench, None))
        bench.postgres.fresh_database("tenure")
        postgres.append(hold(bench, bench.postgres.url("tenure"), [bench.postgres.process]))
    return figures_of("SQLite", sqlite) + figures_of("PostgreSQL", postgres)
