"""Many producers of one session, and many sessions at once, on PostgreSQL through the library."""

from harness.figures import Figure, in_turns
from harness.queues import library, produce

NAME = "queues-crowd"


def measure(bench):
    one = Figure(NAME, "64 producers of one session", "of 64 sessions", "/s", 0.5, ">=")
    in_turns(one, bench.repeat, lambda: produce(bench, 1), lambda: produce(bench, 64))
    many = Figure(NAME, "send + accept + complete, 200 sessions", "10 sessions", "/s", 1, ">=")
    in_turns(many, bench.repeat, lambda: library(bench, "PostgreSQL", session=100, count=20_000),
             lambda: library(bench, "PostgreSQL", session=2_000, count=20_000))
    return [one, many]
