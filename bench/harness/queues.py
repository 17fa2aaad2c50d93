"""Ordered queues: Tenure by its library and over HTTP, and graphile-worker's named queues, each with its answers checked."""

import http.client
import json

from .messages import PEERS, _measured, _words, place_of
from .process import Failed
from .servers import Tenure

# So many messages are sent and completed in a second, roughly, by sessions of one message.
ABOUT = 10_000
PEER_ABOUT = 2_000
PEER_PROCESSES = 2


def library(bench, engine, session, count=None):
    place, servers = place_of(bench, engine)
    argv = [bench.load_program("queues_library"), "cycle",
            *_words(store=place, count=count or ABOUT * bench.seconds, session=session)]
    return _measured(servers, argv)


def rounds(bench, place, seconds):
    """What one message costs to send, accept and complete, in batches of 100 sessions."""
    return _measured([], [bench.load_program("queues_library"), "rounds", *_words(store=place, seconds=seconds)])


def produce(bench, keys):
    place, servers = place_of(bench, "PostgreSQL")
    count = ABOUT // 2 * bench.seconds
    return _measured(servers, [bench.load_program("queues_library"), "produce", *_words(store=place, count=count, keys=keys)])


def over_http(bench, engine, session):
    place, servers = place_of(bench, engine)
    store = None if engine == "SQLite" else place
    with Tenure(bench, bench.new_folder(), store, settings=("http.max_body=4MiB", "rate_limits=off")) as tenure:
        make_queue(tenure.port)
        argv = [bench.load_program("queues_http"), "cycle",
                *_words(port=tenure.port, count=ABOUT * bench.seconds, session=session)]
        return _measured([tenure.process, *servers], argv)


def _graphile(bench, mode, session, **options):
    bench.postgres.fresh_database("peer")
    argv = ["node", "graphile.mjs", mode, *_words(url=bench.postgres.url("peer"), session=session, **options)]
    return _measured([bench.postgres.process], argv, cwd=PEERS)


def fastest_graphile(bench, session):
    """Of a session its local queue fetches one job at a time: with many of each it may be in the way. A short trial says."""
    choices = [{"local": 500}] if session == 1 else [{"local": 0}, {"local": 500, "poll": 10}]
    if len(choices) == 1:
        return choices[0]
    return max(choices, key=lambda choice: _graphile(bench, "process", session, count=PEER_ABOUT, processes=PEER_PROCESSES,
                                                     **choice)["rate"])


def graphile(bench, session, choice):
    """Sent and handled: the time of both, as ours is. Its processing fills its queue before its clock starts."""
    send = _graphile(bench, "enqueue", session, seconds=bench.seconds)
    about = 10 * PEER_ABOUT if session == 1 else PEER_ABOUT
    handle = _graphile(bench, "process", session, count=about * bench.seconds, processes=PEER_PROCESSES, **choice)
    return {"rate": 1 / (1 / send["rate"] + 1 / handle["rate"]), "send_rate": send["rate"],
            "handle_rate": handle["rate"], "settings": handle["settings"]}


def make_queue(port, cap=None):
    bot = {"name": "bench", "events": [], "ordering_scope": "custom", "session_max_messages": 1_000_000}
    if cap:
        bot["max_concurrent_sessions"] = cap
    file = {"sources": [], "bots": [bot]}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("PUT", "/api/v1/bots", json.dumps(file), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise Failed(f"PUT /bots: {answer.status} {answer.read()[:200]}")
