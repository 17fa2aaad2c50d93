"""Messages by the library: enqueue, and claim + ack, against graphile-worker, pg-boss and BullMQ."""

from harness.messages import library_rates

from .message_rates import figures_of, peers_in_turns

NAME = "messages-library"
ENGINES = ("PostgreSQL", "SQLite")
GOALS = {"enqueue": 2, "process": 4}


def measure(bench):
    rounds = peers_in_turns(bench, {engine: lambda bench, engine=engine: library_rates(bench, engine)
                                    for engine in ENGINES})
    return figures_of(NAME, "library", rounds, ENGINES, GOALS)
