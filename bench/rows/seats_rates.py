"""Seats: acquire + heartbeat + release on PostgreSQL, against the document's row-by-row transactions in pgbench."""

from contextlib import ExitStack

from harness.clients import best_client_count
from harness.figures import Figure, in_turns
from harness.seats import CONNECTIONS, cycles, cycles_over, document_cycles, make_licenses, serve

NAME = "seats-rates"
CLIENTS = [4, 16, 64]
GOAL = 4
CASES = [(1_000, 100), (1, 10_000)]   # licences, and seats of each


def measure(bench):
    figures = []
    for count, seats in CASES:
        made = min(count, 100) if bench.quick else count
        best, rates = best_client_count(lambda n, s, made=made, seats=seats: document_cycles(bench, made, seats, n, s),
                                        CLIENTS, min(3, bench.seconds))

        def ours(made=made, seats=seats):
            bench.postgres.fresh_database("tenure")
            with serve(bench, bench.postgres.url("tenure")) as server:
                return cycles(bench, server, make_licenses(server, made, seats), bench.seconds,
                              [bench.postgres.process])

        figure = Figure(NAME, f"acquire + heartbeat + release, {made:,} x {seats:,} seats, {CONNECTIONS} connections",
                        f"the document's transactions, pgbench, {best} clients", "/s", GOAL, ">=")
        in_turns(figure, bench.repeat, ours,
                 lambda made=made, seats=seats, best=best: document_cycles(bench, made, seats, best, bench.seconds))
        figure.notes[f"pgbench by clients, {made:,} x {seats:,}"] = rates
        figures.append(figure)
        figures.append(three_servers(bench, made, seats))
    return figures


def three_servers(bench, made, seats):
    """Batches of several servers that share a licence follow one another; on one machine they also share its cores."""
    bench.postgres.fresh_database("tenure")
    with ExitStack() as stack:
        servers = [stack.enter_context(serve(bench, bench.postgres.url("tenure"))) for _ in range(3)]
        licenses = make_licenses(servers[0], made, seats)
        cycles_over(bench, servers, licenses, 1)
        rates = [cycles_over(bench, servers, licenses, bench.seconds) for _ in range(bench.repeat)]
    return Figure(NAME, f"the same by three servers, {made:,} x {seats:,} seats", "", "/s", None, ">=", ours=rates)
