"""The HTTP rows with tokens (HS256, cached), against the same without."""

import contextlib

from harness.clients import load, wrk_tenure
from harness.figures import Figure, in_turns
from harness.leases import tenure_loops
from harness.messages import http_rates
from harness.servers import Tenure, authentication

NAME = "authentication"
CONNECTIONS = 64
KEYS = 10_000
ENGINES = ("SQLite", "PostgreSQL")


def _store(bench, engine):
    if engine == "SQLite":
        return None
    bench.postgres.fresh_database("tenure")
    return bench.postgres.url("tenure")


def _create(bench, engine):
    with Tenure(bench, bench.new_folder(), _store(bench, engine)) as tenure:
        return wrk_tenure(tenure, 201, "put_create.lua", CONNECTIONS, bench.seconds)


def _existing(bench, engine):
    keys = (folder := bench.new_folder()) / "keys"
    with Tenure(bench, folder, _store(bench, engine)) as tenure:
        load(bench, "fill", port=tenure.port, count=KEYS, connections=CONNECTIONS)
        load(bench, "bodies", count=KEYS, file=keys)
        return wrk_tenure(tenure, 200, "put_existing.lua", CONNECTIONS, bench.seconds, [keys])


def _leases(bench, engine):
    return {mode: result["rate"] for mode, result in tenure_loops(bench, _store(bench, engine)).items()}


def _messages(bench, engine):
    return {mode: result["rate"] for mode, result in http_rates(bench, engine).items()}


def _each(bench, engine, what, measure):
    """Figures of a measurement that has several results by name."""
    figures = {}
    for i in range(bench.repeat):
        for is_ours in (i % 2 == 0, i % 2 != 0):
            with authentication(bench) if is_ours else contextlib.nullcontext():
                for mode, rate in measure(bench, engine).items():
                    figure = figures.setdefault(mode, Figure(NAME, f"{what}, {mode}, {engine}", "without tokens", "/s",
                                                             0.9, ">="))
                    (figure.ours if is_ours else figure.peer).append(rate)
    return list(figures.values())


def measure(bench):
    figures = []
    for engine in ENGINES:
        for what, one in (("PUT existing", _existing), ("PUT create", _create)):
            def ours():
                with authentication(bench):
                    return one(bench, engine)
            figures.append(in_turns(Figure(NAME, f"{what}, {engine}", "without tokens", "/s", 0.9, ">="), bench.repeat,
                                    ours, lambda: one(bench, engine)))
        figures += _each(bench, engine, "leases", _leases)
        figures += _each(bench, engine, "messages, batches of 500", _messages)
    return figures
