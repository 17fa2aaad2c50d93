"""Live sessions with random keys, 10 thousand -> 1 million: what one more create costs."""

from harness.clients import load, wrk_tenure
from harness.figures import Figure, in_turns
from harness.servers import Tenure

NAME = "growth-live"
CONNECTIONS = 64
FEW = 10_000


def many(bench):
    return 10_000_000 if bench.big else 100_000 if bench.quick else 1_000_000


def filled(bench, engine, database, count):
    """A server on a new store with this many sessions, made through the API."""
    store = None
    if engine == "PostgreSQL":
        bench.postgres.fresh_database(database)
        store = bench.postgres.url(database)
    server = Tenure(bench, bench.new_folder(), store)
    load(bench, "fill", port=server.port, count=count, connections=256)
    if store:
        bench.postgres.sql("vacuum analyze", database)
        bench.postgres.sql("checkpoint", database)
    return server


def measure(bench):
    figures = []
    for engine in ("SQLite", "PostgreSQL"):
        count = many(bench)
        figure = Figure(NAME, f"PUT create, {engine}, {count:,} live sessions", f"with {FEW:,}", "us",
                        3, "<=")

        def cost_us(server):
            return 1e6 / wrk_tenure(server, 201, "put_create.lua", CONNECTIONS, bench.seconds)["rate"]

        def small():
            with filled(bench, engine, "few", FEW) as server:
                return cost_us(server)

        with filled(bench, engine, "many", count) as large:
            in_turns(figure, bench.repeat, lambda: cost_us(large), small)
        figures.append(figure)
    return figures
