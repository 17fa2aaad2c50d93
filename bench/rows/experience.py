"""What the page asks: overview, search and lists with few and many messages, what viewers cost, what it loads, and
how soon the command line answers."""

import http.client
import json
import re
import statistics
import subprocess
import time

from harness.figures import Figure
from harness.messages import library
from harness.process import Failed
from harness.servers import Tenure

NAME = "experience"
FEW = 10_000
ASKED = 2_000
OVERVIEW_MS, SEARCH_MS = 5, 20
VIEWERS = {1: 1, 100: 5}  # so many, and the most that they may cost, in percent of a core
EVERY_S = 5               # as the page looks
LIST = "/api/v1/messages?topic=bench&limit=100"
FIRST_KB = 100
HELP_MS, COMPLETION_MS = 30, 300


def many(bench):
    return 10_000_000 if bench.big else 50_000 if bench.quick else 1_000_000


class Asker:
    """One connection, as a browser keeps it."""

    def __init__(self, tenure):
        self.connection = http.client.HTTPConnection("127.0.0.1", tenure.port, timeout=30)
        self.tag = ""

    def ask(self, path, expected=(200,)):
        self.connection.request("GET", path, headers={"If-None-Match": self.tag} if self.tag else {})
        answer = self.connection.getresponse()
        self.body = answer.read()
        if answer.status not in expected:
            raise Failed(f"GET {path} was answered {answer.status}")
        self.tag = answer.getheader("ETag") or ""
        return answer.status


def p99_ms(tenure, path, count):
    """Each answer whole: without the tag of the one before."""
    asker, times = Asker(tenure), []
    for _ in range(count):
        asker.tag = ""
        begun = time.perf_counter()
        asker.ask(path)
        times.append((time.perf_counter() - begun) * 1e3)
    return sorted(times)[int(len(times) * 0.99)]


def cursor_behind(tenure, rows):
    """Where the list goes on behind so many rows."""
    asker, cursor = Asker(tenure), ""
    for _ in range(rows // 1000):
        asker.ask(LIST.replace("limit=100", "limit=1000") + cursor)
        cursor = "&cursor=" + json.loads(asker.body)["next_cursor"]
        asker.tag = ""
    return cursor


def first_page_kb(tenure):
    """The shell, and what it leads to, compressed."""
    connection = http.client.HTTPConnection("127.0.0.1", tenure.port, timeout=30)

    def get(path):
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        return answer.read()

    shell = get("/ui/")
    files = re.findall(r'"(/ui/assets/[^"]+)"', shell.decode())
    return (len(shell) + sum(len(get(path)) for path in set(files))) / 1e3


def command_ms(bench, tenure, words):
    """The median of starting it, from here, until it has ended."""
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        subprocess.run([bench.tenure, *words], check=True, stdout=subprocess.DEVNULL,
                       env={"TENURE_SERVER": f"http://127.0.0.1:{tenure.port}", "XDG_CACHE_HOME": str(bench.new_folder())})
        times.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(times)


def viewers_percent(bench, tenure, count):
    """Processor time of the server while so many look at the overview, spread over the interval."""
    askers = [Asker(tenure) for _ in range(count)]
    for asker in askers:
        asker.ask("/api/v1/overview")
    rounds = 1 if bench.quick else 6

    def used(ask):
        before, begun = tenure.process.cpu_seconds(), time.monotonic()
        for turn in range(rounds):
            for i, asker in enumerate(askers):
                at = begun + (turn + i / count) * EVERY_S
                time.sleep(max(0, at - time.monotonic()))
                if ask:
                    asker.ask("/api/v1/overview", (200, 304))
        time.sleep(max(0, begun + rounds * EVERY_S - time.monotonic()))
        return tenure.process.cpu_seconds() - before

    return max(0.001, 100 * (used(True) - used(False)) / (rounds * EVERY_S))


def found(bench, count):
    bench.postgres.fresh_database("tenure")
    library(bench, "fill", bench.postgres.url("tenure"), count=count)
    bench.postgres.sql("vacuum analyze", "tenure")
    asked = 200 if bench.quick else ASKED
    with Tenure(bench, bench.new_folder(), bench.postgres.url("tenure")) as tenure:
        Asker(tenure).ask("/api/v1/overview")
        return {
            "overview": p99_ms(tenure, "/api/v1/overview", asked),
            "search": p99_ms(tenure, "/api/v1/search?q=be", asked),
            "list": p99_ms(tenure, LIST, asked),
            "list behind": p99_ms(tenure, LIST + cursor_behind(tenure, FEW - 1000), asked),
            "first page": first_page_kb(tenure),
            "help": command_ms(bench, tenure, ["--help"]),
            "completion": command_ms(bench, tenure, ["completion", "words", "--", "topic", "show", ""]),
            **({n: viewers_percent(bench, tenure, n) for n in VIEWERS} if count > FEW else {}),
        }


def measure(bench):
    results = [(found(bench, many(bench)), found(bench, FEW)) for _ in range(bench.repeat)]
    ours, few = ([pair[i] for pair in results] for i in (0, 1))

    def figure(what, key, unit, limit):
        return Figure(NAME, what, "the most allowed", unit, 1, "<=", [each[key] for each in ours], [limit] * len(ours))

    of = f"{many(bench):,} messages"
    return [
        figure(f"GET /api/v1/overview, p99, {of}", "overview", "ms", OVERVIEW_MS),
        Figure(NAME, f"the same, {of}", f"with {FEW:,}", "ms", 1.1, "<=", [each["overview"] for each in ours],
               [each["overview"] for each in few]),
        figure(f"GET /api/v1/search of two letters, p99, {of}", "search", "ms", SEARCH_MS),
        Figure(NAME, "100 messages of a topic, behind its 9,000th, p99", "the first ones", "ms", 1.2, "<=",
               [each["list behind"] for each in ours], [each["list"] for each in ours]),
        figure("what the first page loads, gzip", "first page", "kB", FIRST_KB),
        figure("tenure --help, median", "help", "ms", HELP_MS),
        figure("completing a topic's name, median, nothing kept", "completion", "ms", COMPLETION_MS),
        *(figure(f"{n} idle viewer{'s' if n > 1 else ''} of the overview, the server", n, "% of a core", limit)
          for n, limit in VIEWERS.items()),
    ]
