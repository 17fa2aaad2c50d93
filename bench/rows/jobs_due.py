"""Jobs that are all due at one second, until each was claimed, against crontabs of graphile-worker and pg-boss."""

import time

from harness.figures import Figure
from harness.jobs import TOPIC, claim_all, instant, peer_due, put_jobs
from harness.servers import Tenure

NAME = "jobs-due"
PEERS = {"graphile-worker crontab": "cron_graphile.mjs", "pg-boss schedule": "cron_pgboss.mjs"}
MOST_SECONDS = 2


def ours(bench, store, count):
    with Tenure(bench, bench.new_folder(), store) as tenure:
        due = int(time.time()) + (5 if bench.quick else 30)
        put_jobs(tenure, count, lambda i: {"topic": TOPIC, "every": "24h", "starts_at": instant(due)})
        if time.time() > due:
            raise RuntimeError("the jobs were not made in time")
        return claim_all(tenure, count, due)


def measure(bench):
    count = 500 if bench.quick else 10_000
    figures = {}
    for engine in ("PostgreSQL", "SQLite"):
        for peer in PEERS:
            figures[engine, peer] = Figure(NAME, f"{count:,} jobs due at one second, to all claimed, {engine}", peer, "s",
                                           1 / 5, "<=")
        figures[engine, "limit"] = Figure(NAME, f"{count:,} jobs due at one second, to all claimed, {engine}",
                                          "the longest allowed", "s", 1, "<=")
    for _ in range(bench.repeat):
        peers = {}
        for peer, program in PEERS.items():
            peers[peer], handled = peer_due(bench, program, count)
            if handled < count:
                # Its time is that of the part that it had time for; ours is that of all.
                for engine in ("PostgreSQL", "SQLite"):
                    figures[engine, peer].notes[peer] = f"{handled:,} of {count:,} jobs in the two minutes that it had"
        for engine in ("PostgreSQL", "SQLite"):
            store = None
            if engine == "PostgreSQL":
                bench.postgres.fresh_database("tenure")
                store = bench.postgres.url("tenure")
            seconds = ours(bench, store, count)
            for peer, other in {**peers, "limit": MOST_SECONDS}.items():
                figures[engine, peer].ours.append(seconds)
                figures[engine, peer].peer.append(other)
    return list(figures.values())
