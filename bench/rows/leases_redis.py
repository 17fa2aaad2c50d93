"""Leases on a Redis that keeps every write: acquire + release and renew at 64 clients, against SET NX PX there."""

from harness.figures import Figure
from harness.leases import CONNECTIONS, Rounds, redis_loops, tenure_redis_loops

from .lease_rates import WORK

NAME = "leases-redis"


def measure(bench):
    rounds = Rounds(bench, {"tenure": tenure_redis_loops, "redis": redis_loops})
    figures = []
    for mode, work in WORK.items():
        figure = Figure(NAME, f"{work}, Redis with fsync always, {CONNECTIONS} connections", "SET NX PX, compare in Lua",
                        "/s", 0.3, ">=", ours=rounds.rates("tenure", mode), peer=rounds.rates("redis", mode))
        figure.cpu = {**rounds.cpu("tenure", mode, "Tenure's scripts"), **rounds.cpu("redis", mode, "SET NX PX")}
        figure.notes[f"{work}, latency of Tenure's scripts"] = rounds.latency("tenure", mode)
        figure.notes[f"{work}, latency of SET NX PX"] = rounds.latency("redis", mode)
        figures.append(figure)
    return figures
