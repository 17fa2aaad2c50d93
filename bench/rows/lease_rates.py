"""What leases-pg and leases-sqlite have in common: acquire + release and renew at 64 clients."""

from harness.figures import Figure
from harness.leases import CONNECTIONS, Rounds, etcd_grpc, etcd_loops, redis_loops

WORK = {"pairs": "acquire + release", "renewals": "renew"}
GOAL = 3


def figures_of(row, engine, rounds):
    """Against etcd by JSON over HTTP/1.1, which is our transport too, and by gRPC, which is its best."""
    figures = []
    for mode, work in WORK.items():
        for peer, how in (("etcd", "JSON gateway"), ("etcd gRPC", "gRPC")):
            figure = Figure(row, f"{work}, {engine}, {CONNECTIONS} connections", f"etcd 3.4, {how}", "/s",
                            GOAL, ">=", ours=rounds.rates("tenure", mode), peer=rounds.rates(peer, mode))
            figures.append(figure)
            if peer == "etcd":
                figure.cpu = {**rounds.cpu("tenure", mode, "Tenure"), **rounds.cpu("etcd", mode, "etcd")}
                figure.notes[f"{work}, latency of Tenure"] = rounds.latency("tenure", mode)
                figure.notes[f"{work}, latency of etcd"] = rounds.latency("etcd", mode)
                figure.notes[f"{work}, Redis with fsync always"] = rounds.text("redis", mode)
    figures[0].notes["acquire + release, names that come back"] = rounds.text("tenure", "known names")
    figures[0].notes["acquire + release, etcd, one lease per client"] = rounds.text(
        "etcd", "session pairs")
    figures[1].notes["etcd gRPC, single calls"] = {
        call: rounds.text("etcd gRPC", call) for call in ("grant", "txn", "revoke")}
    return figures


def measure_rates(bench, ours, beside=None):
    """`ours(bench)` returns both loops; so does each of `beside`, by name."""
    return Rounds(bench, {"tenure": ours, "etcd": etcd_loops, "etcd gRPC": etcd_grpc,
                          "redis": redis_loops, **(beside or {})})
