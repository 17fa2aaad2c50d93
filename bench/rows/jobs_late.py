"""How late jobs fire on an idle system with one process and with three: commit of the fire minus nominal time."""

import re
import time
from contextlib import ExitStack

from harness.figures import Figure
from harness.jobs import instant, put_jobs
from harness.servers import Tenure

NAME = "jobs-late"
MOST_MS = 50
JOBS = 20


def buckets(servers):
    """Runs by the upper bound of their lateness in seconds, added up over the servers' own histograms."""
    found = {}
    for server in servers:
        for bound, count in re.findall(r'^jobs_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)$', server._metrics(), re.M):
            found[float(bound)] = found.get(float(bound), 0) + int(count)
    return found


def p99_ms(before, after):
    """The bound below which 99 of 100 lie."""
    counts = {bound: after[bound] - before.get(bound, 0) for bound in sorted(after)}
    total = max(counts.values())
    if not total:
        raise RuntimeError("no job has fired")
    return next(bound for bound, count in counts.items() if count >= 0.99 * total) * 1000


def measure(bench):
    figures = []
    for processes in (1, 3):
        figure = Figure(NAME, f"lateness, idle, {processes} process{'es' if processes > 1 else ''} on PostgreSQL, p99",
                        "the longest allowed", "ms", 1, "<=")
        for _ in range(bench.repeat):
            bench.postgres.fresh_database("tenure")
            with ExitStack() as stack:
                servers = [stack.enter_context(Tenure(bench, bench.new_folder(), bench.postgres.url("tenure")))
                           for _ in range(processes)]
                # Not all at one moment: each fire is one of its own.
                begin = int(time.time()) + 1
                put_jobs(servers[0], JOBS, lambda i: {"topic": "late", "every": "1s", "overlap": "allow",
                                                      "starts_at": instant(begin + i / JOBS)})
                time.sleep(3)
                before = buckets(servers)
                time.sleep(max(5, bench.seconds))
                figure.ours.append(p99_ms(before, buckets(servers)))
                figure.peer.append(MOST_MS)
        figures.append(figure)
    return figures
