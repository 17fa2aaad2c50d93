"""Messages while somebody else's REPEATABLE READ snapshot is held: what claims cost."""

from harness.figures import Figure
from harness.messages import library
from harness.process import Process
from harness.servers import POSTGRES_BIN

NAME = "messages-snapshot"
BACKLOG = 20_000
GOAL = 2


class Snapshot:
    """A transaction that looks at the database and then does nothing more."""

    def __init__(self, bench):
        hold = ("begin isolation level repeatable read; select count(*) from tenure.topics; "
                "select pg_sleep(3600)")
        self.process = Process("snapshot", [POSTGRES_BIN / "psql", *bench.postgres.address, "-X", "-c", hold,
                                            "tenure"], bench.new_folder())
        self.process.wait_until(lambda: bench.postgres.sql(
            "select 1 from pg_stat_activity where query like '%pg_sleep(3600)%' and backend_xmin is not null "
            "and pid <> pg_backend_pid()"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()


def measure(bench):
    figure = Figure(NAME, "claim of one, PostgreSQL, a snapshot held elsewhere", "without", "us", GOAL, "<=")
    for _ in range(bench.repeat):
        bench.postgres.fresh_database("tenure")
        place = bench.postgres.url("tenure")
        library(bench, "fill", place, count=BACKLOG)
        bench.postgres.sql("vacuum analyze", "tenure")
        alone = library(bench, "rounds", place, seconds=bench.seconds)
        with Snapshot(bench):
            # The first stretch leaves its dead rows to the second.
            library(bench, "rounds", place, seconds=bench.seconds)
            held = library(bench, "rounds", place, seconds=bench.seconds)
        figure.ours.append(held["claim_us"])
        figure.peer.append(alone["claim_us"])
        for step in ("enqueue_us", "ack_us"):
            figure.cpu.setdefault(f"{step} held", []).append(held[step])
            figure.cpu.setdefault(f"{step} without", []).append(alone[step])
        figure.notes["dead rows at the end"] = bench.postgres.sql(
            "select n_dead_tup from pg_stat_user_tables where relname = 'messages'", "tenure")
    return [figure]
