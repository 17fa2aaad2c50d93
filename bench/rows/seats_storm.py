"""100,000 seats that are held: what a heartbeat each, every 3 minutes, costs in processor time."""

from harness.clients import wrk_server
from harness.figures import Figure
from harness.seats import CONNECTIONS, fill, make_licenses, serve

NAME = "seats-storm"
SEATS, SMALL = 100_000, 2_000
EVERY_S = 180
PERCENT = 15   # of a core, the server and PostgreSQL together


def measure(bench):
    count = SMALL if bench.quick else SEATS
    bench.postgres.fresh_database("tenure")
    with serve(bench, bench.postgres.url("tenure")) as server:
        sessions = fill(bench, server, make_licenses(server, 10, count), count)
        both = wrk_server(server, "seats_beat.lua", CONNECTIONS, bench.seconds, [sessions], 1,
                          [bench.postgres.process])
    percent = both["server_cpu_us"] / 1e6 * SEATS / EVERY_S * 100
    return [Figure(NAME, f"a heartbeat of each of {SEATS:,} seats every {EVERY_S} s, server and PostgreSQL",
                   "the most allowed", "% of a core", 1, "<=", ours=[percent], peer=[PERCENT],
                   notes={"single heartbeats, 64 connections": f"{both['rate']:,.0f}/s"})]
