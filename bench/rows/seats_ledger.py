"""Heartbeats of seats by the store alone, and with a Redis beside it: rows and WAL that half an hour of them writes, the
processor time of 555 a second, and the most that each bears."""

import threading
import time

from harness.clients import wrk_server
from harness.figures import Figure
from harness.peers import Redis
from harness.process import Failed
from harness.seats import CONNECTIONS, SETTINGS, Client, fill, make_licenses
from harness.servers import Tenure

NAME = "seats-ledger"
SEATS, SMALL = 100_000, 2_000
TTL_S = 720         # they live until both ways were measured
BEATS = 10        # of a seat in half a horizon: half an hour of one every 3 minutes
TOGETHER = 1_000  # in one call
RATE = 555        # 100,000 seats in 3 minutes
PACED = 4         # connections
STATISTICS_S = 11  # an idle backend of PostgreSQL tells what it did after ten seconds


def state(bench):
    """Rows of seats that were written, and where the WAL is."""
    rows = bench.postgres.sql("select pg_stat_clear_snapshot(), n_tup_upd from pg_stat_user_tables where relname = 'seats'",
                              "tenure")
    wal = bench.postgres.sql("select pg_current_wal_insert_lsn() - '0/0'", "tenure")
    return int(str(rows).split("|")[-1].strip()), int(float(str(wal).strip()))


def all_beats(server, sessions):
    """A heartbeat of each, in calls of a thousand."""
    client = Client(server)
    for first in range(0, len(sessions), TOGETHER):
        some = sessions[first:first + TOGETHER]
        answer = client.call("POST", "/heartbeats", {"session_ids": some})[1]
        if len(answer["alive"]) != len(some):
            raise Failed(f"{len(some) - len(answer['alive'])} heartbeats were not answered as alive")


def paced(server, sessions, seconds):
    """Single heartbeats at the rate."""
    def beat(number):
        client, begun = Client(server), time.monotonic()
        for i in range(RATE * seconds // PACED):
            due = begun + i * PACED / RATE
            if due > (now := time.monotonic()):
                time.sleep(due - now)
            client.call("PATCH", f"/sessions/{sessions[(i * PACED + number) % len(sessions)]}/heartbeat")
    threads = [threading.Thread(target=beat, args=[number]) for number in range(PACED)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def await_use(server):
    while True:
        text = server._metrics()
        if any(line.startswith("seat_ledger_authority_seconds") and not line.endswith(" 0")
               for line in text.splitlines()):
            return
        time.sleep(0.1)


def filled(bench, count):
    """A database with so many seats that are taken, from which each way begins. Returns the file with their sessions."""
    bench.postgres.fresh_database("filled")
    with Tenure(bench, bench.new_folder(), bench.postgres.url("filled"), settings=SETTINGS) as server:
        return fill(bench, server, make_licenses(server, 10, count, TTL_S), count)


def one_way(bench, file, redis):
    bench.postgres.fresh_database("tenure", template="filled")
    settings = [*SETTINGS]
    processes = [bench.postgres.process]
    if redis:
        settings += [f"seats.redis.url=redis://127.0.0.1:{redis.port}"]
        processes += [redis.process]
    sessions = file.read_text().split()
    count = len(sessions)
    with Tenure(bench, bench.new_folder(), bench.postgres.url("tenure"), settings=settings) as server:
        if redis:
            await_use(server)
        rows, wal = state(bench)
        for _ in range(BEATS):
            all_beats(server, sessions)
        time.sleep(STATISTICS_S)
        after = state(bench)
        found = {"rows": (after[0] - rows) / count, "wal": (after[1] - wal) / count}
        counted = [server.process, *processes]
        before = sum(process.cpu_seconds() for process in counted)
        paced(server, sessions, bench.seconds)
        found["cpu"] = (sum(process.cpu_seconds() for process in counted) - before) / bench.seconds * 100
        found["rate"] = wrk_server(server, "seats_beat.lua", CONNECTIONS, bench.seconds, [file], 1, processes)["rate"]
    return found


def measure(bench):
    with_redis, alone = [], []
    for _ in range(bench.repeat):
        file = filled(bench, SMALL if bench.quick else SEATS)
        alone.append(one_way(bench, file, None))
        with Redis(bench.new_folder(), durable=False) as redis:
            with_redis.append(one_way(bench, file, redis))
    def figure(what, unit, name, goal=None, sense="<="):
        return Figure(NAME, what, "the store alone", unit, goal, sense, ours=[each[name] for each in with_redis],
                      peer=[each[name] for each in alone])
    return [figure(f"rows of seats written by {BEATS} heartbeats of a seat", "rows", "rows", 0.2),
            figure(f"WAL of {BEATS} heartbeats of a seat", "bytes", "wal", 1),
            figure(f"processor time of {RATE} single heartbeats a second, all processes", "% of a core", "cpu", 10),
            figure("single heartbeats, 64 connections", "/s", "rate", 0.1, ">=")]
