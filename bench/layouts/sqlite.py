"""Two layouts of the message table on SQLite, in batches of 500, with WAL and synchronous=FULL."""

import os
import sqlite3
import time

COLUMNS = """
  topic_id integer not null, line integer not null, pos integer not null, fence integer not null default 0,
  lease_until_ms integer not null default 0, worker integer not null default 0, claimed_ms integer not null default 0,
  priority integer not null, due_ms integer not null, enqueued_ms integer not null,
  attempts integer not null default 0, crashes integer not null default 0, payload_kind integer not null,
  payload blob not null, correlation text, headers text, trace text, error text"""

LAYOUTS = {
    "id, without rowid": f"create table message (id blob primary key, {COLUMNS}) strict, without rowid",
    "rowid + unique id": f"create table message (id blob unique not null, {COLUMNS}) strict",
    "rowid = pos + unique id": "create table message (pos integer primary key autoincrement, id blob unique not null,"
                               + COLUMNS.replace("pos integer not null,", "") + ") strict",
}
READY = "create index message_ready on message (topic_id, line, pos) where lease_until_ms = 0"
ENQUEUE = """insert into message (id, topic_id, line, pos, priority, due_ms, enqueued_ms, payload_kind, payload)
  values (?1, 7, 5, ?2, 5, 0, 0, 0, ?3)"""
SELECT = """select id, fence, pos, payload, enqueued_ms, attempts, crashes from message
  where topic_id = 7 and line = 5 and lease_until_ms = 0 order by pos limit ?1"""
# By id, as on PostgreSQL; and by the position where that is the table's own key.
MARK = "update message set fence = ?2, lease_until_ms = 1, worker = 1, claimed_ms = 1 where id = ?1 and lease_until_ms = 0"
MARK_POS = "update message set fence = ?2, lease_until_ms = 1, worker = 1, claimed_ms = 1 where pos = ?1 and lease_until_ms = 0"
ACK = "delete from message where id = ?1 and fence = ?2 and lease_until_ms > 0"


def _id():
    return ((time.time_ns() // 1_000_000) << 80 | 7 << 76 | 2 << 62).to_bytes(16, "big")[:8] + os.urandom(8)


def measure(folder, layout, backlog, seconds, batch=500):
    """Messages per second of enqueue, claim and ack, on top of `backlog`."""
    path = os.path.join(folder, "layout.db")
    for name in (path, path + "-wal", path + "-shm"):
        if os.path.exists(name):
            os.unlink(name)
    database = sqlite3.connect(path, isolation_level=None)
    for text in ("pragma journal_mode=wal", "pragma synchronous=full", "pragma secure_delete=off",
                 "pragma cache_size=-65536", LAYOUTS[layout], READY):
        database.execute(text)
    mark, key = (MARK_POS, 2) if layout.startswith("rowid = pos") else (MARK, 0)
    spent, pos, count = {"enqueue": 0.0, "claim": 0.0, "ack": 0.0}, 0, 0
    payload = b"x" * 200

    def timed(name, act):
        begun = time.monotonic()
        database.execute("begin immediate")
        found = act()
        database.execute("commit")
        spent[name] += time.monotonic() - begun
        return found

    def enqueue(size):
        nonlocal pos
        rows = [(_id(), pos + i + 1, payload) for i in range(size)]
        pos += size
        return lambda: database.executemany(ENQUEUE, rows)

    def claim():
        rows = database.execute(SELECT, (batch,)).fetchall()
        database.executemany(mark, [(row[key], row[1] + 1) for row in rows])
        return rows

    for _ in range(0, backlog, 5000):
        timed("enqueue", enqueue(5000))
    spent = dict.fromkeys(spent, 0.0)
    while sum(spent.values()) < seconds:
        for _ in range(10):
            timed("enqueue", enqueue(batch))
        for _ in range(10):
            rows = timed("claim", claim)
            done = timed("ack", lambda rows=rows: database.executemany(ACK, [(r[0], r[1] + 1) for r in rows]))
            if done.rowcount != batch:
                raise RuntimeError(f"{done.rowcount} of {batch} were acknowledged")
        count += 10 * batch
    database.close()
    return {name: count / value for name, value in spent.items()}
