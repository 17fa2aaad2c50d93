"""PUT /sessions of new random keys on PostgreSQL, against the document's transaction in pgbench."""

from harness.clients import best_client_count, pgbench, wrk_tenure
from harness.document import fresh_document, rows_of_document
from harness.figures import Figure, in_turns
from harness.process import Failed
from harness.servers import Tenure

NAME = "pg-create"
CLIENTS = [4, 8, 16, 32, 64]
GOALS = {64: 4, 256: 6}


def document(bench, clients, seconds):
    """The peer, each time on a new table; fails unless it has a row for every transaction."""
    fresh_document(bench)
    result = pgbench(bench.postgres, "document", "create.sql", clients, seconds)
    rows = rows_of_document(bench)
    if rows != result["transactions"]:
        raise Failed(f"pgbench made {result['transactions']} transactions and {rows} rows")
    return result


def measure(bench):
    best, rates = best_client_count(lambda n, s: document(bench, n, s), CLIENTS,
                                    min(3, bench.seconds))

    def ours(connections):
        bench.postgres.fresh_database("tenure")
        with Tenure(bench, bench.new_folder(), bench.postgres.url("tenure")) as fresh:
            return wrk_tenure(fresh, 201, "put_create.lua", connections, bench.seconds,
                              also=[bench.postgres.process])

    figures = []
    for connections, goal in GOALS.items():
        figure = Figure(NAME, f"PUT create, PostgreSQL, {connections} connections",
                        f"the document's transaction, pgbench, {best} clients", "/s", goal, ">=")
        in_turns(figure, bench.repeat, lambda: ours(connections),
                 lambda: document(bench, best, bench.seconds))
        figures.append(figure)
    figures[0].notes["pgbench by clients"] = rates
    return figures
