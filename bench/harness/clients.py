"""Drivers: wrk, pgbench and the programs of bench/load, each with its answers checked."""

import json
import re
import resource
import statistics
import time
from pathlib import Path

from .process import Failed, run

HERE = Path(__file__).resolve().parent.parent


def pinned(argv, cpus):
    return argv if cpus is None else ["taskset", "-c", str(cpus), *argv]


def wrk(script, url, connections, seconds, arguments=(), cpus=None):
    """Closed loop. Returns {requests, seconds, rate, p50_us, p99_us}; any error is a failure."""
    argv = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "30s",
            "--latency", "-s", HERE / "wrk" / script, url, "--", *arguments]
    out = run(pinned(argv, cpus), timeout=seconds + 60)
    found = re.search(r"^RESULT (\{.*\})$", out, re.M)
    if not found:
        raise Failed(f"wrk said nothing:\n{out}")
    result = json.loads(found.group(1))
    errors = {k: v for k, v in result.pop("errors").items() if v}
    if errors or not result["requests"]:
        raise Failed(f"wrk against {url}: errors {errors}, {result['requests']} requests")
    return result


def wrk_server(server, script, connections, seconds, arguments=(), warm_up=1, also=()):
    """wrk after a warm-up. Adds what one request costs in processor time: of the server (and of the
    processes in `also`, its database for one) and of wrk itself. On a busy machine that says more than
    the rate."""
    if warm_up:
        wrk(script, server.url, connections, warm_up, arguments)
    counted = [server.process, *also]
    before = sum(process.cpu_seconds() for process in counted)
    client_before = children_cpu_seconds()
    result = wrk(script, server.url, connections, seconds, arguments)
    per_request = 1e6 / result["requests"]
    result["server_cpu_us"] = (sum(p.cpu_seconds() for p in counted) - before) * per_request
    result["client_cpu_us"] = (children_cpu_seconds() - client_before) * per_request
    return result


def children_cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def wrk_tenure(server, status, script, connections, seconds, arguments=(), warm_up=1, also=()):
    """wrk against Tenure: fails unless every PUT was answered with `status`."""
    before = server.answers()
    if warm_up:
        before = _settled(server, wrk(script, server.url, connections, warm_up, arguments), before,
                          status, connections)
    result = wrk_server(server, script, connections, seconds, arguments, 0, also)
    _settled(server, result, before, status, connections)
    return result


def _settled(server, result, before, status, connections):
    """Compares what wrk saw with what the server counted since `before`."""
    # What was under way when wrk stopped is answered by the server and counted by nobody else.
    time.sleep(0.2)
    after = server.answers()
    new = {code: n - before.get(code, 0) for code, n in after.items() if n > before.get(code, 0)}
    wrong = {code: n for code, n in new.items() if code != status}
    if wrong or not result["requests"] <= new.get(status, 0) <= result["requests"] + connections:
        raise Failed(f"expected {result['requests']} answers {status}, the server counted {new}")
    return after


def pgbench(postgres, database, script, clients, seconds, variables=None, log_folder=None):
    """Returns {rate, transactions}, and p50_us when a folder for per-transaction logs is given."""
    argv = ["pgbench", *postgres.address, "-n", "-M", "prepared", "-c", str(clients), "-j",
            str(min(2, clients)), "-T", str(seconds), "-f", HERE / "pgbench" / script]
    for name, value in (variables or {}).items():
        argv += ["-D", f"{name}={value}"]
    if log_folder:
        argv += ["-l", "--log-prefix", Path(log_folder) / "pgbench"]
    before, client_before = postgres.process.cpu_seconds(), children_cpu_seconds()
    out = run([*argv, database], timeout=seconds + 60)
    server_cpu = postgres.process.cpu_seconds() - before
    client_cpu = children_cpu_seconds() - client_before
    transactions = int(re.search(r"actually processed: (\d+)", out).group(1))
    failed = int(re.search(r"failed transactions: (\d+)", out).group(1))
    if failed or not transactions:
        raise Failed(f"pgbench {script}: {failed} failed, {transactions} done\n{out}")
    rate = float(re.search(r"tps = ([\d.]+)", out).group(1))
    result = {"rate": rate, "transactions": transactions, "clients": clients,
              "server_cpu_us": server_cpu * 1e6 / transactions,
              "client_cpu_us": client_cpu * 1e6 / transactions}
    if log_folder:
        times = []
        for log in Path(log_folder).glob("pgbench.*"):
            times += [int(line.split()[2]) for line in log.read_text().splitlines()]
            log.unlink()
        result["p50_us"] = statistics.median(times)
    return result


def best_client_count(measure, counts, seconds):
    """Tries `measure(clients, seconds)` with each count and returns the fastest and all rates."""
    rates = {n: round(measure(n, seconds)["rate"]) for n in counts}
    return max(rates, key=rates.get), rates


def load(bench, mode, timeout=3600, cpus=None, **options):
    """bench/load/load: open loop, filling, history. Returns what it printed, as JSON."""
    argv = [bench.load_program("load"), mode]
    for name, value in options.items():
        argv += [f"--{name.replace('_', '-')}", str(value)]
    return json.loads(run(pinned(argv, cpus), timeout=timeout))


def sqlite_insert(bench, folder, seconds):
    """The least that a create can cost on SQLite. Returns its latency."""
    return json.loads(run([bench.load_program("sqlite_insert"), "--file", Path(folder) / "insert.db",
                           "--seconds", str(seconds)]))["latency"]
