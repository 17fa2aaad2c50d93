"""Ordered queues on PostgreSQL beside a million idle sessions, much history, a long session, parked ones: what others' work costs."""

import time

from harness.figures import Figure, in_turns
from harness.queues import rounds
from harness.servers import Tenure
from rows.messages_snapshot import Snapshot

NAME = "queues-growth"
GOAL = 1.3
SNAPSHOT_GOAL = 2
MEMORY_GOAL = 1.05


def copies(bench, table, database, count, **changes):
    """Rows like the first one of `round-0`, each with a number n of its own."""
    columns = bench.postgres.sql(
        "select string_agg(column_name::text, ',' order by ordinal_position) from information_schema.columns "
        f"where table_schema = 'tenure' and table_name = '{table}'", database).split(",")
    values = ", ".join(str(changes.get(column, f"t.{column}")) for column in columns)
    one = "select session_id from tenure.queue_sessions where key = 'round-0'"
    bench.postgres.sql(
        f"insert into tenure.{table} ({', '.join(columns)}) select {values} from (select * from tenure.{table} "
        f"where session_id = ({one}) limit 1) as t, generate_series(1, {count}) as n", database)


def count_more(bench, database, **more):
    sums = ", ".join(f"{name} = {name} + {by}" for name, by in more.items())
    bench.postgres.sql(f"update tenure.queue_counters set {sums} where lane = 0 or ctid = (select min(ctid) from "
                       "tenure.queue_counters) and not exists (select from tenure.queue_counters where lane = 0)", database)


def own_id(what):
    return f"md5('{what}' || n)::uuid"


def idle(bench, database, count):
    copies(bench, "queue_sessions", database, count, session_id=own_id("idle"), key="'idle-' || n", name="'idle-' || n")


def history(bench, database, count):
    sessions = max(1, count // 1_000)
    copies(bench, "queue_sessions", database, sessions, session_id=own_id("old"), key="'old-' || n", name="'old-' || n",
           next=1_001, head=1_001)
    copies(bench, "queue_messages", database, count, session_id=f"md5('old' || (n % {sessions} + 1))::uuid",
           sequence=f"n / {sessions} + 1", id="gen_random_uuid()")


def one_session(bench, database, count):
    copies(bench, "queue_sessions", database, 1, session_id=own_id("long"), key="'long'", name="'long'", state=2,
           next=count + 1, head=1, lease_until_ms="t.activity_ms + 86400000", due_ms="t.activity_ms + 86400000",
           consumer="'another'")
    copies(bench, "queue_messages", database, count, session_id="md5('long1')::uuid", sequence="n", id="gen_random_uuid()")
    count_more(bench, database, messages=count, held=1)


def parked(bench, database, count):
    copies(bench, "queue_sessions", database, count, session_id=own_id("parked"), key="'parked-' || n", name="'parked-' || n",
           state=3, next=2, head=1, parked_ms="t.activity_ms - n", reason=1, error="'no'", error_class="'no'")
    copies(bench, "queue_messages", database, count, session_id=own_id("parked"), sequence=1, id="gen_random_uuid()")
    count_more(bench, database, messages=count, parked=count)


def filled(bench, name, fill, count):
    """Each begins with a short round, whose rows are those that are copied."""
    bench.postgres.fresh_database(name)
    rounds(bench, bench.postgres.url(name), 1)
    if fill:
        fill(bench, name, count)
    bench.postgres.sql("vacuum analyze", name)
    bench.postgres.sql("checkpoint", name)
    return bench.postgres.url(name)


def cost_us(figure, found, which):
    steps = ("send_us", "accept_us", "complete_us")
    for step in steps:
        figure.cpu.setdefault(f"{which} {step}", []).append(found[step])
    return sum(found[step] for step in steps)


def memory_kib(bench, place):
    """Of a server that has handed out and tidied a little."""
    with Tenure(bench, bench.new_folder(), place) as server:
        time.sleep(max(5, bench.seconds))
        return server.process.status_kib("VmRSS")


def measure(bench):
    part = 50 if bench.quick else 1
    history_rows = (10_000_000 if bench.big else 1_000_000) // part
    figures = []
    empty = filled(bench, "few", None, 0)
    for what, fill, count in (("idle sessions", idle, 1_000_000 // part), ("messages of history", history, history_rows),
                              ("messages in a session that is held", one_session, 1_000_000 // part),
                              ("parked sessions", parked, 100_000 // part)):
        place = filled(bench, "many", fill, count)
        figure = Figure(NAME, f"send + accept + complete of one, {count:,} {what}", "with none", "us", GOAL, "<=")
        in_turns(figure, bench.repeat, lambda: cost_us(figure, rounds(bench, place, bench.seconds), "many"),
                 lambda: cost_us(figure, rounds(bench, empty, bench.seconds), "none"))
        figures.append(figure)
        if fill is idle:
            memory = Figure(NAME, f"memory of a server, {count:,} idle sessions", "with none", "KiB", MEMORY_GOAL, "<=")
            figures.append(in_turns(memory, bench.repeat, lambda: memory_kib(bench, place),
                                    lambda: memory_kib(bench, empty)))
    figures.append(snapshot(bench))
    return figures


def snapshot(bench):
    figure = Figure(NAME, "send + accept + complete of one, a snapshot held elsewhere", "without", "us", SNAPSHOT_GOAL, "<=")
    for _ in range(bench.repeat):
        place = filled(bench, "tenure", None, 0)
        alone = rounds(bench, place, bench.seconds)
        with Snapshot(bench):
            # The first stretch leaves its dead rows to the second.
            rounds(bench, place, bench.seconds)
            held = rounds(bench, place, bench.seconds)
        figure.ours.append(cost_us(figure, held, "held"))
        figure.peer.append(cost_us(figure, alone, "without"))
    return figure
