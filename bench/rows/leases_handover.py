"""A lease that changes hands: after a release (one server, two servers) and after a crash of its holder."""

from harness.figures import Figure
from harness.leases import lease_load
from harness.servers import Tenure

NAME = "leases-handover"
ONE_SERVER_MS, TWO_SERVERS_MS = 10, 50
TTL_MS, TAKEOVER_MS = 1000, 50
AT_ONCE = 64


def against(what, limit_ms):
    return Figure(NAME, what, "the longest allowed", "ms", 1, "<=", peer=[limit_ms])


def note(figure, latency):
    figure.ours.append(latency["p99_us"] / 1000)
    figure.peer = figure.peer[:1] * len(figure.ours)
    figure.notes[f"{figure.what}, last run"] = latency


def hand_over(bench, figure, waiter, releaser):
    result = lease_load(bench, "handover", port=waiter.port, release_port=releaser.port,
                        count=200 if bench.quick else 500)
    note(figure, result["latency"])


def take_over(bench, figure, server):
    note(figure, lease_load(bench, "takeover", port=server.port, count=AT_ONCE, ttl_ms=TTL_MS)["latency"])


def measure(bench):
    sqlite = against("hand-over on release, SQLite, p99", ONE_SERVER_MS)
    postgres = against("hand-over on release, PostgreSQL, p99", ONE_SERVER_MS)
    across = against("hand-over on release, two servers on PostgreSQL, p99", TWO_SERVERS_MS)
    crash_sqlite = against(f"takeover after a crash, ttl {TTL_MS} ms, SQLite, p99", TTL_MS + TAKEOVER_MS)
    crash_postgres = against(f"takeover after a crash, ttl {TTL_MS} ms, PostgreSQL, p99",
                             TTL_MS + TAKEOVER_MS)
    for _ in range(bench.repeat):
        with Tenure(bench, bench.new_folder()) as server:
            hand_over(bench, sqlite, server, server)
            take_over(bench, crash_sqlite, server)
        bench.postgres.fresh_database("tenure")
        store = bench.postgres.url("tenure")
        with Tenure(bench, bench.new_folder(), store) as one:
            hand_over(bench, postgres, one, one)
            take_over(bench, crash_postgres, one)
            with Tenure(bench, bench.new_folder(), store) as other:
                hand_over(bench, across, other, one)
    return [sqlite, postgres, across, crash_sqlite, crash_postgres]
