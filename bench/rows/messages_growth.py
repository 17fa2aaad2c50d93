"""Messages with a backlog and with a history, 10 thousand -> 1 million: what enqueue, claim and ack cost."""

from harness.figures import Figure, in_turns
from harness.messages import library

NAME = "messages-growth"
FEW = 10_000
DAY_MS = 86_400_000


def many(bench):
    return 10_000_000 if bench.big else 50_000 if bench.quick else 1_000_000


class Filled:
    """A store with `count` messages: ready ones, or finished ones that are kept."""

    def __init__(self, bench, engine, name, count, finished):
        self.bench = bench
        self.options = {"keep_ms": DAY_MS} if finished else {}
        if engine == "SQLite":
            self.place = bench.new_folder()
        else:
            bench.postgres.fresh_database(name)
            self.place = bench.postgres.url(name)
        library(bench, "fill", self.place, count=count, **self.options)
        if finished:
            # So that a claim of the measured rounds finds more than what its own round put there.
            library(bench, "fill", self.place, count=FEW)
        if engine != "SQLite":
            bench.postgres.sql("vacuum analyze", name)
            bench.postgres.sql("checkpoint", name)

    def rounds(self):
        return library(self.bench, "rounds", self.place, seconds=self.bench.seconds, **self.options)


def measure(bench):
    figures = []
    for engine in ("PostgreSQL", "SQLite"):
        for finished in (False, True):
            what = "kept finished" if finished else "ready"
            count = many(bench)
            stores = [Filled(bench, engine, name, n, finished)
                      for name, n in (("few", FEW), ("many", count))]
            figure = Figure(NAME, f"enqueue + claim + ack of one, {engine}, {count:,} {what}",
                            f"with {FEW:,}", "us", 1.3, "<=")
            steps = {}

            def cost_us(store, which, steps=steps):
                found = store.rounds()
                for step in ("enqueue_us", "claim_us", "ack_us"):
                    steps.setdefault(f"{which} {step}", []).append(found[step])
                return sum(found[step] for step in ("enqueue_us", "claim_us", "ack_us"))

            in_turns(figure, bench.repeat, lambda: cost_us(stores[1], "many"), lambda: cost_us(stores[0], "few"))
            figure.cpu = steps
            figures.append(figure)
    return figures
