"""Messages: Tenure by its library and over HTTP, and the peers of bench/peers/messages, each with its answers checked."""

import json

from .clients import HERE, children_cpu_seconds
from .peers import Redis
from .process import run
from .servers import Tenure

PEERS = HERE / "peers" / "messages"
PEER_NAMES = ("graphile-worker", "pg-boss", "BullMQ")
BATCH = 500


def install_peers():
    """What the lock file says, unless it is there. Not `npm ci`: it asks for msgpackr's builds for other systems, which the lock file leaves out."""
    done = PEERS / "node_modules" / ".package-lock.json"
    if not done.exists() or done.stat().st_mtime < (PEERS / "package-lock.json").stat().st_mtime:
        run(["npm", "install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"], timeout=600, cwd=PEERS)


def peer_versions():
    wanted = json.loads((PEERS / "package.json").read_text())["dependencies"]
    return {name: wanted[name] for name in ("graphile-worker", "pg-boss", "bullmq")}


def _program(argv, timeout=600, cwd=None):
    """Runs it to its end. Returns the JSON that it printed and the processor time that it took."""
    before = children_cpu_seconds()
    result = json.loads(run(argv, timeout=timeout, cwd=cwd))
    result["client_cpu_s"] = children_cpu_seconds() - before
    return result


def _measured(server_processes, argv, cwd=None):
    """The same, with what one message costs in processor time on either side, where messages are counted."""
    before = sum(p.cpu_seconds() for p in server_processes)
    result = _program(argv, cwd=cwd)
    if "jobs" not in result:
        return result
    result["server_cpu_us"] = (sum(p.cpu_seconds() for p in server_processes) - before) * 1e6 / result["jobs"]
    result["client_cpu_us"] = result.pop("client_cpu_s") * 1e6 / result["jobs"]
    return result


def _words(**options):
    return [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]


class Peer:
    """One of them, on an empty store for each measurement."""

    PROGRAMS = {"graphile-worker": "graphile.mjs", "pg-boss": "pgboss.mjs", "BullMQ": "bullmq.mjs"}
    # What was fastest on two cores, of those that its documentation recommends.
    PROCESSES = {"graphile-worker": 2, "pg-boss": 1, "BullMQ": 1}
    # What it handles in a second, roughly: so many jobs make a run of the wanted length.
    ABOUT = {"graphile-worker": 20_000, "pg-boss": 20_000, "BullMQ": 4_000}

    def __init__(self, bench, name):
        self.bench, self.name = bench, name

    def _run(self, mode, **options):
        program = ["node", self.PROGRAMS[self.name], mode]
        if self.name == "BullMQ":
            with Redis(self.bench.new_folder()) as redis:
                return _measured([redis.process], [*program, *_words(port=redis.port, **options)], cwd=PEERS)
        postgres = self.bench.postgres
        postgres.fresh_database("peer")
        return _measured([postgres.process], [*program, *_words(url=postgres.url("peer"), **options)], cwd=PEERS)

    def rates(self):
        count = self.ABOUT[self.name] * self.bench.seconds
        return {"enqueue": self._run("enqueue", seconds=self.bench.seconds),
                "process": self._run("process", count=count, processes=self.PROCESSES[self.name])}

    def latency(self, count):
        return self._run("latency", count=count)["latency"]


def place_of(bench, engine):
    """A new, empty store for the library, and the processes that serve it."""
    if engine == "SQLite":
        return bench.new_folder(), []
    bench.postgres.fresh_database("tenure")
    return bench.postgres.url("tenure"), [bench.postgres.process]


def library(bench, mode, place, servers=(), **options):
    """bench/load/messages_library on a store of its own."""
    argv = [bench.load_program("messages_library"), mode, *_words(store=place, **options)]
    return _measured(servers, argv)


def over_http(bench, mode, port, servers=(), **options):
    """bench/load/messages_http against a server."""
    argv = [bench.load_program("messages_http"), mode, *_words(port=port, **options)]
    return _measured(servers, argv)


def library_rates(bench, engine):
    place, servers = place_of(bench, engine)
    # Topics are spread over the lanes, as the peers' batches are over connections.
    enqueue = library(bench, "enqueue", place, servers, seconds=bench.seconds, topics=4)
    place, servers = place_of(bench, engine)
    count = _whole_batches(min(enqueue["jobs"], 100_000 * bench.seconds))
    # As the peers do: no vacuum and no checkpoint between filling and processing.
    library(bench, "fill", place, count=count)
    return {"enqueue": enqueue, "process": library(bench, "process", place, servers, count=count)}


def http_rates(bench, engine):
    place, servers = place_of(bench, engine)
    store = None if engine == "SQLite" else place
    with Tenure(bench, bench.new_folder(), store, settings=("http.max_body=4MiB",)) as tenure:
        enqueue = over_http(bench, "enqueue", tenure.port, [tenure.process, *servers], seconds=bench.seconds, topics=4)
    place, servers = place_of(bench, engine)
    store = None if engine == "SQLite" else place
    with Tenure(bench, bench.new_folder(), store, settings=("http.max_body=4MiB",)) as tenure:
        filled = over_http(bench, "enqueue", tenure.port, seconds=bench.seconds)
        process = over_http(bench, "process", tenure.port, [tenure.process, *servers], count=filled["jobs"])
    return {"enqueue": enqueue, "process": process}


def _whole_batches(count):
    return count // BATCH * BATCH
