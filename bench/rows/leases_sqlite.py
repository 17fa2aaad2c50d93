"""Leases on SQLite: acquire + release and renew at 64 clients, against etcd; Redis beside."""

from harness.leases import tenure_loops

from .lease_rates import figures_of, measure_rates

NAME = "leases-sqlite"


def measure(bench):
    rounds = measure_rates(bench, lambda b: tenure_loops(b, None))
    return figures_of(NAME, "SQLite", rounds)
