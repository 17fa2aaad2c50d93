"""What jobs that are not due cost: processor time of a fire with a million of them, against the same with a thousand."""

import time

from harness.figures import Figure, in_turns
from harness.jobs import instant, put_jobs
from harness.servers import Tenure

NAME = "jobs-asleep"
FIRING = 100

COPY = """
insert into tenure.jobs (id, tenant, name, topic, cron, every_ms, zone, payload, headers, priority, enabled, missed,
                         missed_window_ms, missed_cap, overlap, gap, repeat, jitter_ms, starts_ms, ends_ms, watch, origin,
                         revision, created_ms, changed_ms, since_ms, next_ms, look_ms, paused_ms, paused_until_ms,
                         paused_reason)
select gen_random_uuid(), tenant, 'asleep-' || n, topic, cron, every_ms, zone, payload, headers, priority, enabled, missed,
       missed_window_ms, missed_cap, overlap, gap, repeat, jitter_ms, starts_ms, ends_ms, watch, origin, revision,
       created_ms, changed_ms, since_ms, next_ms + 86400000 + n, look_ms + 86400000 + n, paused_ms, paused_until_ms,
       paused_reason
  from tenure.jobs, generate_series(1, {count}) as n where name = 'job-0'"""


def fire_us(bench, asleep):
    bench.postgres.fresh_database("tenure")
    with Tenure(bench, bench.new_folder(), bench.postgres.url("tenure")) as tenure:
        begin = int(time.time()) + 1
        put_jobs(tenure, FIRING, lambda i: {"topic": "asleep", "every": "1s", "overlap": "allow",
                                            "starts_at": instant(begin + i / FIRING)})
        bench.postgres.sql(COPY.format(count=asleep), "tenure")
        bench.postgres.sql("vacuum analyze", "tenure")
        time.sleep(2)
        counted = [tenure.process, bench.postgres.process]

        def fired():
            return int(bench.postgres.sql("select count(*) from tenure.job_runs", "tenure"))

        runs, cpu = fired(), sum(p.cpu_seconds() for p in counted)
        time.sleep(max(10, 2 * bench.seconds))
        cpu = sum(p.cpu_seconds() for p in counted) - cpu
        return cpu * 1e6 / (fired() - runs)


def measure(bench):
    many = 20_000 if bench.quick else 1_000_000
    figure = Figure(NAME, f"processor time of a fire, {many:,} jobs that are not due", "the same, 1,000 jobs", "us", 1.1, "<=")
    return [in_turns(figure, bench.repeat, lambda: fire_us(bench, many), lambda: fire_us(bench, 1_000))]
