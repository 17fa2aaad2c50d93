"""Leases on PostgreSQL: acquire + release and renew at 64 clients, against etcd; Redis and locks beside."""

from harness.clients import pgbench
from harness.leases import CONNECTIONS, tenure_loops

from .lease_rates import figures_of, measure_rates

NAME = "leases-pg"


def ours(bench):
    bench.postgres.fresh_database("tenure")
    return tenure_loops(bench, bench.postgres.url("tenure"), also=[bench.postgres.process])


def advisory(bench):
    return {"pairs": pgbench(bench.postgres, "postgres", "advisory.sql", CONNECTIONS, bench.seconds)}


def measure(bench):
    rounds = measure_rates(bench, ours, {"advisory": advisory})
    figures = figures_of(NAME, "PostgreSQL", rounds)
    figures[0].notes["lock + unlock, advisory locks (not durable), pgbench"] = rounds.text(
        "advisory", "pairs")
    return figures
