"""PUT /sessions of existing sessions on PostgreSQL, against pgbench's prepared select by key."""

from harness.clients import best_client_count, load, pgbench, wrk_tenure
from harness.document import fresh_document
from harness.figures import Figure, in_turns
from harness.servers import Tenure

NAME = "pg-existing"
CONNECTIONS = 64
KEYS = 10_000
CLIENTS = [2, 4, 8, 16, 32]


def measure(bench):
    fresh_document(bench, KEYS)

    def select(clients, seconds):
        return pgbench(bench.postgres, "document", "select.sql", clients, seconds, {"keys": KEYS})

    best, rates = best_client_count(select, CLIENTS, min(3, bench.seconds))
    figure = Figure(NAME, f"PUT existing, PostgreSQL, {CONNECTIONS} connections",
                    f"prepared select by key, pgbench, {best} clients", "/s", 1, ">=")
    figure.notes["pgbench by clients"] = rates

    folder = bench.new_folder()
    keys = folder / "keys"
    bench.postgres.fresh_database("tenure")
    with Tenure(bench, folder, bench.postgres.url("tenure")) as tenure:
        load(bench, "fill", port=tenure.port, count=KEYS, connections=CONNECTIONS)
        load(bench, "bodies", count=KEYS, file=keys)
        bench.postgres.sql("vacuum analyze", "tenure")
        return [in_turns(
            figure, bench.repeat,
            lambda: wrk_tenure(tenure, 200, "put_existing.lua", CONNECTIONS, bench.seconds,
                               [keys], also=[bench.postgres.process]),
            lambda: select(best, bench.seconds))]
