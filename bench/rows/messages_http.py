"""Messages over HTTP in batches of 500: enqueue, and claim + ack, against the same peers."""

from harness.messages import http_rates

from .message_rates import figures_of, peers_in_turns

NAME = "messages-http"
ENGINES = ("PostgreSQL", "SQLite")
GOALS = {"enqueue": 1.5, "process": 3}


def measure(bench):
    rounds = peers_in_turns(bench, {engine: lambda bench, engine=engine: http_rates(bench, engine)
                                    for engine in ENGINES})
    return figures_of(NAME, "HTTP", rounds, ENGINES, GOALS)
