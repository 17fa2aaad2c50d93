"""Ordered messages, sent, accepted and completed: sessions of 1, 10 and 1,000, library and HTTP, against graphile-worker's named queues."""

from harness.figures import Figure, spread
from harness.leases import Rounds
from harness.messages import install_peers
from harness.queues import PEER_PROCESSES, fastest_graphile, graphile, library, over_http

NAME = "queues-rates"
SESSIONS = (1, 10, 1_000)
WAYS = {"library": library, "HTTP": over_http}
PEER = "graphile-worker, named queues"
GOAL = 3


def measure(bench):
    install_peers()
    figures = []
    for session in SESSIONS:
        measures = {f"{way}, {engine}": lambda bench, run=run, engine=engine: run(bench, engine, session)
                    for way, run in WAYS.items() for engine in ("PostgreSQL", "SQLite")}
        choice = fastest_graphile(bench, session)
        measures[PEER] = lambda bench: graphile(bench, session, choice)
        rounds = Rounds(bench, measures)
        rates = {name: [result["rate"] for result in results] for name, results in rounds.results.items()}
        for way in WAYS:
            figures.append(Figure(NAME, f"send + accept + complete, sessions of {session}, {way}, PostgreSQL",
                                  PEER, "/s", GOAL, ">=", ours=rates[f"{way}, PostgreSQL"], peer=rates[PEER]))
            figures[-1].notes[f"{way}, SQLite, sessions of {session}"] = f"{spread(rates[f'{way}, SQLite'])} /s"
        for name, results in rounds.results.items():
            figures[-1].notes[f"{name}, sessions of {session}: sending, handling"] = " ".join(
                f"{spread([result[what] for result in results])} /s" for what in ("send_rate", "handle_rate"))
        figures[-1].notes[f"settings of the peer, sessions of {session}"] = (
            f"{rounds.results[PEER][0]['settings']}, {PEER_PROCESSES} processes")
    return figures
