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


def library(bench, engine, session):
    place, servers = place_of(bench, engine)
    argv = [bench.load_program("queues_library"), "cycle",
            *_words(store=place, count=ABOUT * bench.seconds, session=session)]
    return _measured(servers, argv)


def over_http(bench, engine, session):
    place, servers = place_of(bench, engine)
    store = None if engine == "SQLite" else place
    with Tenure(bench, bench.new_folder(), store, settings=("http.max_body=4MiB", "rate_limits=off")) as tenure:
        _make_queue(tenure.port)
        argv = [bench.load_program("queues_http"), "cycle",
                *_words(port=tenure.port, count=ABOUT * bench.seconds, session=session)]
        return _measured([tenure.process, *servers], argv)


def graphile(bench, session):
    """Sent and handled: the time of both, as ours is. Its processing fills its queue before its clock starts."""
    def run(mode, **options):
        bench.postgres.fresh_database("peer")
        argv = ["node", "graphile.mjs", mode, *_words(url=bench.postgres.url("peer"), session=session, **options)]
        return _measured([bench.postgres.process], argv, cwd=PEERS)
    send = run("enqueue", seconds=bench.seconds)
    handle = run("process", count=PEER_ABOUT * bench.seconds, processes=PEER_PROCESSES)
    return {"rate": 1 / (1 / send["rate"] + 1 / handle["rate"]), "send_rate": send["rate"],
            "handle_rate": handle["rate"], "settings": handle["settings"]}


def _make_queue(port):
    file = {"sources": [], "bots": [{"name": "bench", "events": [], "ordering_scope": "custom",
                                     "session_max_messages": 1_000_000}]}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("PUT", "/api/v1/bots", json.dumps(file), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise Failed(f"PUT /bots: {answer.status} {answer.read()[:200]}")
