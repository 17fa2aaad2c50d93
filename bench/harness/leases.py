"""Leases: our own client against Tenure and its peers, each with the same loop and its answers checked."""

import json
import statistics
import urllib.request

from .clients import children_cpu_seconds
from .figures import spread
from .peers import Etcd, Redis, create_message, grant_message, lease_message
from .process import Failed, run
from .servers import Tenure

CONNECTIONS = 64
LOOPS = ("pairs", "renewals")
KNOWN_NAMES = 20  # of each connection, for pairs whose names come back


def lease_load(bench, mode, timeout=600, **options):
    """bench/load/leases. Returns what it printed, as JSON."""
    argv = [bench.load_program("leases"), mode]
    for name, value in options.items():
        argv += [f"--{name.replace('_', '-')}", str(value)]
    return json.loads(run(argv, timeout=timeout))


def loop(bench, mode, peer, server, also=(), **options):
    """A closed loop of `mode`, with what one round costs in processor time."""
    counted = [server.process, *also]
    before, client_before = sum(p.cpu_seconds() for p in counted), children_cpu_seconds()
    result = lease_load(bench, mode, peer=peer, port=server.port, seconds=bench.seconds,
                        connections=CONNECTIONS, **options)
    per_round = 1e6 / result[mode]
    result["server_cpu_us"] = (sum(p.cpu_seconds() for p in counted) - before) * per_round
    result["client_cpu_us"] = (children_cpu_seconds() - client_before) * per_round
    return result


def tenure_loops(bench, store, also=()):
    """Both loops on a server of their own, after a short warm-up, and pairs whose names come back."""
    with Tenure(bench, bench.new_folder(), store) as tenure:
        lease_load(bench, "pairs", peer="tenure", port=tenure.port, seconds=1, connections=CONNECTIONS)
        loops = {mode: loop(bench, mode, "tenure", tenure, also) for mode in LOOPS}
        loops["known names"] = loop(bench, "pairs", "tenure", tenure, also, names=KNOWN_NAMES)
        return loops


def etcd_loops(bench):
    """By the JSON gateway, the same transport as ours: a lease for each name, then one per client."""
    with Etcd(bench.new_folder()) as etcd:
        lease_load(bench, "pairs", peer="etcd", port=etcd.port, seconds=1, connections=CONNECTIONS)
        loops = {mode: loop(bench, mode, "etcd", etcd) for mode in LOOPS}
        loops["session pairs"] = loop(bench, "pairs", "etcd-session", etcd)
        return loops


def etcd_grpc(bench):
    """By gRPC, without the gateway: rates of the single calls, from which that of a pair follows. The
    calls are kinder to etcd than a pair is: one key, and a revoke that finds no lease."""
    seconds = max(1, bench.seconds // 3)
    with Etcd(bench.new_folder()) as etcd:
        request = urllib.request.Request(f"http://127.0.0.1:{etcd.port}/v3/lease/grant",
                                         data=b'{"TTL":3000}', method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            lease = int(json.loads(answer.read())["ID"])

        def rate(method, message, counter=None):
            before = etcd.counter(counter) if counter else 0
            found = etcd.grpc_rate(etcd.process.log.parent, method, message, CONNECTIONS, seconds)
            if counter and etcd.counter(counter) - before < found * seconds * 0.9:
                raise Failed(f"etcd did not do what {method} asked for")
            return found

        grant = rate("Lease/LeaseGrant", grant_message(), "etcd_debugging_lease_granted_total")
        create = rate("KV/Txn", create_message(lease), "etcd_mvcc_put_total")
        revoke = rate("Lease/LeaseRevoke", lease_message(lease + 1))
        keep = rate("Lease/LeaseKeepAlive", lease_message(lease), "etcd_debugging_lease_renewed_total")
    return {"pairs": {"rate": 1 / (1 / grant + 1 / create + 1 / revoke)}, "renewals": {"rate": keep},
            "grant": {"rate": grant}, "txn": {"rate": create}, "revoke": {"rate": revoke}}


def redis_loops(bench):
    with Redis(bench.new_folder()) as redis:
        return {mode: loop(bench, mode, "redis", redis) for mode in LOOPS}


def tenure_redis_loops(bench):
    """The scripts of our library's provider, by the same client: what it does on the Redis's side."""
    with Redis(bench.new_folder()) as redis:
        lua = bench.root / "src" / "client" / "redis" / "lua"
        scripts = {name: run(["redis-cli", "-p", redis.port, "script", "load",
                              (lua / "record.lua").read_text() + (lua / f"{name}.lua").read_text()]).strip()
                   for name in ("acquire", "release", "renew")}
        return {mode: loop(bench, mode, "tenure-redis", redis, **scripts) for mode in LOOPS}


class Rounds:
    """Several things measured in turns: one result per repetition and thing."""

    def __init__(self, bench, measures):
        self.results = {name: [] for name in measures}
        names = list(measures)
        for i in range(bench.repeat):
            for name in names[i % len(names):] + names[:i % len(names)]:
                self.results[name].append(measures[name](bench))

    def rates(self, name, mode):
        return [result[mode]["rate"] for result in self.results[name]]

    def cpu(self, name, mode, whose):
        return {f"{whose} cpu us/{mode[:-1]}": [r[mode]["server_cpu_us"] for r in self.results[name]],
                f"client cpu us/{mode[:-1]} against {whose}":
                    [r[mode]["client_cpu_us"] for r in self.results[name]]}

    def latency(self, name, mode):
        return {p: f"{statistics.median(r[mode]['latency'][f'{p}_us'] for r in self.results[name])} us"
                for p in ("p50", "p99")}

    def text(self, name, mode):
        return f"{spread(self.rates(name, mode))} /s"
