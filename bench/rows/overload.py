"""Twice the load that it can bear, at a fixed rate: SQLite create, server and client on a core each."""

import os

from harness.clients import load, wrk
from harness.figures import Figure
from harness.process import Failed
from harness.servers import Tenure

NAME = "overload"
SERVER_CORE, CLIENT_CORE = 0, 1
LONGEST_P99_MS = 1000
# More than SQLite's page cache holds: what grows after that is not the cache.
SESSIONS_BEFORE = 200_000

# Fewer connections than the lane's queue has places (4,096): nobody is refused, the clients wait.
PATIENT = {"name": "1,000 connections", "connections": 1000, "settings": [], "expected": {201},
           "peak_connections": [64, 256, 1000]}
# Far more connections than places: most are answered 503 at once.
CROWD = {"name": "4,000 connections, queue of 512", "connections": 4000, "expected": {201, 503},
         "settings": ["lanes.queue_items=512"], "peak_connections": [64, 256, 500]}


def overload(bench, case):
    """The peak of a closed loop, then two stretches at twice that rate, all on one server. Returns the
    peak, the second stretch, and the resident memory in MiB after each stretch."""
    with Tenure(bench, bench.new_folder(), cpus=SERVER_CORE, settings=case["settings"]) as tenure:
        load(bench, "fill", port=tenure.port, count=SESSIONS_BEFORE, connections=256)
        peak = max(wrk("put_create.lua", tenure.url, connections, bench.seconds,
                       cpus=CLIENT_CORE)["rate"] for connections in case["peak_connections"])
        memory = []
        for _ in range(2):
            stretch = load(bench, "open", port=tenure.port, rate=round(2 * peak),
                           seconds=bench.seconds, connections=case["connections"], cpus=CLIENT_CORE)
            memory.append(tenure.process.status_kib("VmRSS") / 1024)
            if {int(s) for s in stretch["statuses"]} != case["expected"] or stretch["unanswered"]:
                raise Failed(f"{case['name']}: answers {stretch['statuses']}, "
                             f"{stretch['unanswered']} unanswered")
    return peak, stretch, memory


def measure(bench):
    if (os.cpu_count() or 1) < 2:
        raise Failed("needs two cores")
    figures = []
    for case in (PATIENT, CROWD):
        goodput = Figure(NAME, f"goodput at 2 x the peak, SQLite create, {case['name']}",
                         "own peak", "/s", 0.8, ">=")
        p99 = Figure(NAME, f"p99 of those answered 201, {case['name']}", "the longest allowed", "ms",
                     1, "<=")
        memory = Figure(NAME, f"memory after the second stretch, {case['name']}", "after the first",
                        "MiB", 1.1, "<=")
        for _ in range(bench.repeat):
            own_peak, result, resident = overload(bench, case)
            goodput.ours.append(result["goodput"])
            goodput.peer.append(own_peak)
            p99.ours.append(result["from_sent"]["p99_us"] / 1000)
            p99.peer.append(LONGEST_P99_MS)
            memory.ours.append(resident[1])
            memory.peer.append(resident[0])
        goodput.notes[f"last run, {case['name']}"] = {
            key: result[key] for key in ("due", "sent", "unsent", "statuses", "from_sent", "refused")}
        figures += [goodput, p99, memory]
    return figures
