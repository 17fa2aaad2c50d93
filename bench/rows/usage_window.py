"""Closing a usage window over a million active sessions, on PostgreSQL: seal and ranges, then rendering and sending."""

import json
import subprocess
import time

from harness.clients import load
from harness.figures import Figure
from harness.process import run
from harness.servers import Nginx, Tenure

NAME = "usage-window"
COLUMNS = "id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason"
DATABASE = "usage"
INTERVAL_S = 30
PUTS_PER_SECOND = 500


def _sessions(bench, count):
    """Sessions that began a moment ago, written past the server: one by one it would take a minute."""
    bench.postgres.sql(f"""
insert into tenure.sessions ({COLUMNS})
select (lpad(to_hex(start_ms), 12, '0') || '7' || substr(h, 1, 3) || '8' || substr(h, 4, 15))::uuid,
       md5('t' || i % 100)::uuid, md5('u' || i)::uuid, md5('c' || i % 1000)::uuid, 1, 1 + i % 3, start_ms,
       start_ms + 2592000000, null
  from (select i, md5(i::text) as h, (extract(epoch from clock_timestamp()) * 1000)::bigint - 1000 + i / 1000 as start_ms
          from generate_series(1, {count}) i) made;
insert into tenure.session_keys (user_id, capacity_id) select user_id, capacity_id from tenure.sessions;
""", DATABASE)
    bench.postgres.sql("vacuum analyze", DATABASE)
    bench.postgres.sql("checkpoint", DATABASE)


def _copy_seconds(bench):
    begun = time.monotonic()
    run(["psql", *bench.postgres.address, "-X", "-q", "-c",
         f"\\copy (select {COLUMNS} from tenure.sessions) to '/dev/null'", DATABASE])
    return time.monotonic() - begun


class _Watch:
    """Asks the database how far a window is, over one connection."""

    def __init__(self, bench):
        self._psql = subprocess.Popen(["psql", *bench.postgres.address, "-X", "-q", "-A", "-t", DATABASE],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, sql):
        self._psql.stdin.write(sql + ";\n\\echo done\n")
        self._psql.stdin.flush()
        lines = []
        while (line := self._psql.stdout.readline().strip()) != "done":
            lines.append(line)
        return lines

    def until(self, sql):
        while not (rows := self.ask(sql)):
            time.sleep(0.01)
        return rows[0]

    def close(self):
        self._psql.stdin.close()
        self._psql.wait()


def _pause(watch, paused):
    """The messages of chunks: while they rest, nothing is rendered and sent."""
    watch.ask(f"update tenure.topics set paused_ms = {int(paused)} where name = 'usage' returning name")


def _window(watch, number):
    """Seconds from the seal until it is in chunks; then, from the word that sending may begin, until the last is acknowledged."""
    _pause(watch, True)
    emitted = watch.until("select (extract(epoch from clock_timestamp()) * 1000)::bigint - sealed_ms "
                          f"from tenure.usage_windows where number = {number} and state = 3")
    _pause(watch, False)
    begun = time.monotonic()
    watch.until(f"select 1 where not exists (select from tenure.usage_chunks where number = {number})")
    return int(emitted) / 1000, time.monotonic() - begun


def measure(bench):
    count = 50_000 if bench.quick else 1_000_000
    windows = 2 if bench.quick else 4
    ranges = Figure(NAME, f"seal and ranges, {count:,} active sessions", "\\copy of the session columns", "s", 1.5, "<=")
    sending = Figure(NAME, "then rendering and sending, to nginx on loopback", "\\copy of the session columns", "s", 6, "<=")
    latency = Figure(NAME, f"PUT at {PUTS_PER_SECOND}/s meanwhile, p99", "without a window", "us", 3, "<=")
    memory = Figure(NAME, "the server's memory afterwards", "before the first window", "KiB", 1.3, "<=")
    bench.postgres.fresh_database(DATABASE)
    store = bench.postgres.url(DATABASE)
    with Nginx(bench.new_folder(), 200, 2) as receiver:
        settings = (f"usage.interval={INTERVAL_S}s", f"usage.endpoint=http://127.0.0.1:{receiver.port}/usages")
        with Tenure(bench, bench.new_folder(), store, settings=settings):
            pass  # makes the tables
        _sessions(bench, count)
        with Tenure(bench, bench.new_folder(), store, settings=settings) as server:
            watch = _Watch(bench)
            before = server.process.status_kib("VmRSS")
            for _ in range(windows):
                # Without a window: some seconds that begin and end in the calm middle of an interval.
                while not INTERVAL_S - 18 < time.time() % INTERVAL_S < INTERVAL_S - 12:
                    time.sleep(0.1)
                calm = load(bench, "open", port=server.port, rate=PUTS_PER_SECOND, seconds=5, connections=32)
                ranges.peer.append(copied := _copy_seconds(bench))
                sending.peer.append(copied)
                number = int(watch.until("select coalesce(max(number), 0) + 1 from tenure.usage_windows"))
                time.sleep(INTERVAL_S - 0.5 - time.time() % INTERVAL_S)
                busy = subprocess.Popen([str(bench.load_program("load")), "open", "--port", str(server.port), "--rate",
                                         str(PUTS_PER_SECOND), "--seconds", "15", "--connections", "32"],
                                        stdout=subprocess.PIPE, text=True)
                emitted, sent = _window(watch, number)
                ranges.ours.append(emitted)
                sending.ours.append(sent)
                latency.peer.append(calm["from_due"]["p99_us"])
                latency.ours.append(json.loads(busy.communicate(timeout=120)[0])["from_due"]["p99_us"])
            memory.ours.append(server.process.status_kib("VmRSS"))
            memory.peer.append(before)
            watch.close()
    return [ranges, sending, latency, memory]
