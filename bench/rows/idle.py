"""One request at a time: the latency of PUT create, against one-row inserts by pgbench and in SQLite."""

from harness.clients import pgbench, sqlite_insert, wrk_tenure
from harness.document import fresh_document
from harness.figures import Figure, in_turns
from harness.servers import Tenure

NAME = "idle"


def create_p50_us(bench, store):
    with Tenure(bench, bench.new_folder(), store) as tenure:
        return wrk_tenure(tenure, 201, "put_create.lua", 1, bench.seconds)["p50_us"]


def measure(bench):
    postgres = bench.postgres

    def ours_postgres():
        postgres.fresh_database("tenure")
        return create_p50_us(bench, postgres.url("tenure"))

    def insert_postgres():
        fresh_document(bench)
        return pgbench(postgres, "document", "insert.sql", 1, bench.seconds,
                       log_folder=bench.new_folder())["p50_us"]

    on_postgres = Figure(NAME, "one PUT create at a time, PostgreSQL, p50",
                         "one-row insert, pgbench, 1 client", "us", 2.3, "<=")
    in_turns(on_postgres, bench.repeat, ours_postgres, insert_postgres)

    on_sqlite = Figure(NAME, "one PUT create at a time, SQLite, p50", "one-row insert, SQLite C API",
                       "us", 1.5, "<=")
    in_turns(on_sqlite, bench.repeat, lambda: create_p50_us(bench, None),
             lambda: sqlite_insert(bench, bench.new_folder(), bench.seconds)["p50_us"])
    return [on_postgres, on_sqlite]
