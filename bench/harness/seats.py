"""Licence seats: licences, wrk over their seats, and the document's own transactions in pgbench."""

import hashlib
import http.client
import json
import os
import random
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from .clients import HERE, pgbench, wrk, wrk_server
from .process import Failed, run
from .servers import Tenure

CONNECTIONS = 64
# One client stands for thousands of machines and people here.
SETTINGS = ("rate_limits=off",)
REQUESTS_OF_A_CYCLE = 3   # acquire, heartbeat, release


def serve(bench, store=None):
    return Tenure(bench, bench.new_folder(), store, settings=SETTINGS)


class Client:
    """One connection. `call` returns status and body; other statuses than expected are errors."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def call(self, method, path, body=None, expect=(200, 201, 204)):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        self.connection.request(method, "/api/v1/licenses" + path,
                                None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status not in expect:
            raise OSError(f"{method} {path}: {answer.status} {text[:200]}")
        return answer.status, json.loads(text) if text else None


def make_licenses(server, count, seats, ttl_seconds=3600):
    """Returns (id, key) of each."""
    client = Client(server)
    body = {"seats": seats, "ttl_seconds": ttl_seconds}
    made = [client.call("POST", "", body)[1] for _ in range(count)]
    return [(one["id"], one["license_key"]) for one in made]


def keys_file(bench, licenses):
    path = bench.new_folder() / "keys"
    path.write_text("".join(key + "\n" for _, key in licenses))
    return path


def cycles(bench, server, licenses, seconds, also=()):
    """Acquire, heartbeat, release, one after the other; the rate is of whole cycles."""
    result = wrk_server(server, "seats_cycle.lua", CONNECTIONS, seconds, [keys_file(bench, licenses)], 1, also)
    for name in ("rate", "requests"):
        result[name] /= REQUESTS_OF_A_CYCLE
    for name in ("server_cpu_us", "client_cpu_us"):
        result[name] *= REQUESTS_OF_A_CYCLE
    return result


def cycles_over(bench, servers, licenses, seconds):
    """The same at several servers at once, each with a wrk and its share of the connections; the rates' sum."""
    keys = keys_file(bench, licenses)

    def one(server):
        return wrk("seats_cycle.lua", server.url, CONNECTIONS // len(servers), seconds, [keys])["rate"]

    with ThreadPoolExecutor(len(servers)) as pool:
        return sum(pool.map(one, servers)) / REQUESTS_OF_A_CYCLE


def beat_at(server, sessions, per_second, seconds, connections=8):
    """Single heartbeats of random sessions at a fixed rate, each at a random moment of its slot. Returns how many
    there were, and how many of them were late by more than a slot: then the rate was not kept."""
    slot, end, done, late = connections / per_second, time.monotonic() + seconds, [], []

    def one(number):
        client, chance = Client(server), random.Random(number)
        count = behind = 0
        begin = time.monotonic()
        while (at := begin + (count + chance.random()) * slot) < end:
            time.sleep(max(0.0, at - time.monotonic()))
            behind += time.monotonic() - at > slot
            client.call("PATCH", f"/sessions/{chance.choice(sessions)}/heartbeat")
            count += 1
        done.append(count)
        late.append(behind)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(done) < connections:
        raise Failed("a heartbeat was not answered with 200")
    return sum(done), sum(late)


def fill(bench, server, licenses, count):
    """Takes so many seats and keeps them. Returns the file with their sessions."""
    sessions = bench.new_folder() / "sessions"
    sessions.touch()
    while (have := sum(1 for _ in sessions.open())) < count:
        wrk("seats_fill.lua", server.url, CONNECTIONS, 2,
            [keys_file(bench, licenses), sessions, count - have])
    return sessions


def fresh_document(bench, licenses, seats):
    bench.postgres.fresh_database("document")
    run(["psql", *bench.postgres.address, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", f"licenses={licenses}",
         "-v", f"seats={seats}", "-f", HERE / "pgbench" / "seats_tables.sql", "document"])


def document_cycles(bench, licenses, seats, clients, seconds):
    fresh_document(bench, licenses, seats)
    return pgbench(bench.postgres, "document", "seats_cycle.sql", clients, seconds, {"licenses": licenses})


def write_export(path, entries):
    """A log as `tenure seat export` writes it: seats that are taken and given back in turns."""
    license_id, before, lines = str(uuid.uuid4()), bytes(32), []

    def add(seq, kind, session, slot, fence, detail):
        nonlocal before
        text = json.dumps([license_id, seq, 1_766_311_200_000 + seq, kind, session, slot, fence, detail],
                          separators=(",", ":"))
        before = hashlib.sha256(before + text.encode()).digest()
        lines.append(f'{{"hash":"{before.hex()}","entry":{text}}}\n')

    add(1, "LICENSE_CREATED", None, None, None, {"seats": 100})
    for seq in range(2, entries, 2):
        slot, session = seq // 2 % 100 + 1, str(uuid.UUID(int=seq))
        who = {"machine": f"machine-{seq}", "person": "ann", "address": "192.0.2.1"}
        add(seq, "LICENSE_SEAT_ACQUIRED", session, slot, seq, {**who, "expires_ms": 1_766_312_000_000 + seq})
        add(seq + 1, "LICENSE_SEAT_RELEASED", session, slot, seq, {**who, "last_heartbeat_ms": 1})
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{{"license_id":"{license_id}","entries":{len(lines)},"head":"{before.hex()}"}}\n')
        file.writelines(lines)
    return len(lines), os.path.getsize(path)
