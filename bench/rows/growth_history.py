"""Ended sessions, 30 thousand -> 1 million: what PUT of an existing session costs."""

from harness.clients import load, wrk_tenure
from harness.figures import Figure, in_turns
from harness.servers import Tenure

NAME = "growth-history"
CONNECTIONS = 64
KEYS = 10_000
FEW_ROUNDS = 1  # of 3 ended sessions per key


def many_rounds(bench):
    return 334 if bench.big else 4 if bench.quick else 34


def with_history(bench, engine, database, rounds):
    """A server on a new store with one active session per key and 3 x rounds ended ones."""
    store = None
    if engine == "PostgreSQL":
        bench.postgres.fresh_database(database)
        store = bench.postgres.url(database)
    server = Tenure(bench, bench.new_folder(), store)
    load(bench, "history", port=server.port, count=KEYS, rounds=rounds, connections=256)
    if store:
        bench.postgres.sql("vacuum analyze", database)
        bench.postgres.sql("checkpoint", database)
    return server


def measure(bench):
    figures = []
    bodies = bench.new_folder() / "bodies"
    load(bench, "bodies", count=KEYS, file=bodies)
    for engine in ("SQLite", "PostgreSQL"):
        rounds = many_rounds(bench)
        figure = Figure(NAME, f"PUT existing, {engine}, {3 * rounds * KEYS:,} ended sessions",
                        f"with {3 * FEW_ROUNDS * KEYS:,}", "us", 1.3, "<=")

        def cost_us(server):
            return 1e6 / wrk_tenure(server, 200, "put_existing.lua", CONNECTIONS, bench.seconds,
                                    [bodies])["rate"]

        with with_history(bench, engine, "few", FEW_ROUNDS) as few, \
                with_history(bench, engine, "many", rounds) as many:
            in_turns(figure, bench.repeat, lambda: cost_us(many), lambda: cost_us(few))
        figures.append(figure)
    return figures
