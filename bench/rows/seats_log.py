"""The log of seats: how fast `tenure seat prove` is, and what a long log costs acquire + heartbeat + release."""

import time

from harness.figures import Figure
from harness.process import run
from harness.seats import cycles, make_licenses, serve, write_export

NAME = "seats-log"
PROVE_PER_SECOND = 200_000
GROWTH = 1.3

LONG_LOG = """
insert into tenure.seat_log (license_id, seq, at_ms, kind, session_id, slot, fence, detail, hash)
select '{license}', i + 1, 1766311200000 + i, 'LICENSE_SEAT_ACQUIRED',
       (lpad(to_hex(1766311200000 + i), 12, '0') || '7' || substr(md5(i::text), 1, 3) || '8' || substr(md5(i::text), 4, 15))::uuid,
       i % 100 + 1, i,
       '{{"machine":"m","person":"p"}}', decode(repeat('00', 32), 'hex') from generate_series(1, {entries}) i
"""


def prove(bench):
    path = bench.new_folder() / "export.ndjson"
    entries, _ = write_export(path, 100_000 if bench.quick else 2_000_000)
    def seconds(file):
        begun = time.perf_counter()
        run([bench.tenure, "seat", "prove", "--file", file], timeout=600)
        return time.perf_counter() - begun
    small = bench.new_folder() / "small.ndjson"
    write_export(small, 3)
    return [entries / max(1e-6, seconds(path) - seconds(small)) for _ in range(bench.repeat)]


def measure(bench):
    rates = prove(bench)
    figures = [Figure(NAME, "prove of an export", "the least allowed", "entries/s", 1, ">=", ours=rates,
                      peer=[PROVE_PER_SECOND] * len(rates))]
    entries = 20_000 if bench.quick else 10_000_000 if bench.big else 1_000_000
    bench.postgres.fresh_database("tenure")
    with serve(bench, bench.postgres.url("tenure")) as server:
        licenses = make_licenses(server, 100, 100)
        short = [cycles(bench, server, licenses[1:], bench.seconds, [bench.postgres.process])["rate"]
                 for _ in range(bench.repeat)]
        bench.postgres.sql(LONG_LOG.format(license=licenses[0][0], entries=entries), "tenure")
        # Others' entries: the licence to which they are added is used neither before nor after.
        long = [cycles(bench, server, licenses[1:], bench.seconds, [bench.postgres.process])["rate"]
                for _ in range(bench.repeat)]
    figures.append(Figure(NAME, f"a cycle beside {entries:,} entries of the log", "itself before them", "us", GROWTH, "<=",
                          ours=[1e6 / rate for rate in long], peer=[1e6 / rate for rate in short]))
    return figures
