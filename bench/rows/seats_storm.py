"""100,000 seats that are held: what a heartbeat each, every 3 minutes, costs in processor time."""

from harness.clients import wrk
from harness.figures import Figure
from harness.process import Failed
from harness.seats import CONNECTIONS, beat_at, fill, make_licenses, serve

NAME = "seats-storm"
SEATS, SMALL = 100_000, 2_000
EVERY_S = 180
SERVER_PERCENT, BOTH_PERCENT = 5, 15   # of a core


def measure(bench):
    count = SMALL if bench.quick else SEATS
    bench.postgres.fresh_database("tenure")
    server_percent, both_percent = [], []
    with serve(bench, bench.postgres.url("tenure")) as server:
        file = fill(bench, server, make_licenses(server, 10, count // 10 + 1_000), count)
        sessions = file.read_text().split()
        # As they come, a few at a time: a batch has hardly more than one. Under load it has many, and each costs less.
        for _ in range(bench.repeat):
            processes = [server.process, bench.postgres.process]
            before = [process.cpu_seconds() for process in processes]
            beats, late = beat_at(server, sessions, SEATS / EVERY_S, bench.seconds)
            if late > beats / 10:
                raise Failed(f"{late} of {beats} heartbeats were late: the rate was not kept")
            spent = [process.cpu_seconds() - then for process, then in zip(processes, before)]
            server_percent.append(100 * spent[0] / bench.seconds)
            both_percent.append(100 * sum(spent) / bench.seconds)
        most = wrk("seats_beat.lua", server.url, CONNECTIONS, bench.seconds, [file])["rate"]
    work = f"a heartbeat of each of {SEATS:,} seats every {EVERY_S} s"
    notes = {f"single heartbeats of {count:,} seats, {CONNECTIONS} connections": f"{most:,.0f}/s"}
    return [Figure(NAME, f"{work}, the server", "the most allowed", "% of a core", 1, "<=", ours=server_percent,
                   peer=[SERVER_PERCENT] * bench.repeat),
            Figure(NAME, f"{work}, server and PostgreSQL", "the most allowed", "% of a core", 1, "<=",
                   ours=both_percent, peer=[BOTH_PERCENT] * bench.repeat, notes=notes)]
