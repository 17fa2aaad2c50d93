"""Webhooks of 10 KB to three bots with sessions on PostgreSQL, signed, against the same rows one by one in pgbench."""

import hashlib
import hmac
import http.client
import json
import random

from harness.clients import HERE, best_client_count, pgbench, wrk_server
from harness.figures import Figure, in_turns
from harness.process import Failed, run
from harness.servers import Tenure

NAME = "webhooks"
CLIENTS = [4, 16, 64]
CONNECTIONS = 64
ISSUES = 1_000
REPOSITORIES = 50
BODY_BYTES = 10_000
SECRET = "a secret of the benchmark"
GOAL = 1.5


def body_of(issue, words):
    """Text as people write it: it compresses as a real one does."""
    text = " ".join(words.choice(WORDS) for _ in range(BODY_BYTES // 7))
    body = {"action": "opened", "issue": {"number": issue, "body": text}, "sender": {"id": 5, "login": "ada"},
            "repository": {"id": issue % REPOSITORIES + 1, "full_name": f"acme/shop-{issue % REPOSITORIES}"}}
    return json.dumps(body)[:-1] + " " * max(0, BODY_BYTES - len(json.dumps(body))) + "}"


WORDS = [hashlib.sha256(str(i).encode()).hexdigest()[:3 + i % 7] for i in range(2_000)]


def bodies():
    words = random.Random(1)
    return [body_of(issue, words) for issue in range(1, ISSUES + 1)]


def serve(bench, folder):
    (folder / "secret").write_text(SECRET)
    bots = [{"name": f"bot-{i}", "events": ["*"], "ordering_scope": "entity"} for i in range(3)]
    file = {"sources": [{"name": "github", "secrets": [{"file": str(folder / "secret")}]}], "bots": bots}
    server = Tenure(bench, folder, bench.postgres.url("tenure"), settings=("rate_limits=off",))
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("PUT", "/api/v1/bots", json.dumps(file), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise Failed(f"PUT /bots: {answer.status} {answer.read()[:200]}")
    return server


def signed_file(folder, texts):
    def line(text):
        return f"sha256={hmac.new(SECRET.encode(), text.encode(), hashlib.sha256).hexdigest()} {text}\n"
    path = folder / "webhooks"
    path.write_text("".join(line(text) for text in texts))
    return path


def document(bench, texts, clients, seconds):
    bench.postgres.fresh_database("document")
    run(["psql", *bench.postgres.address, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f",
         HERE / "pgbench" / "webhook_tables.sql", "document"])
    rows = bench.new_folder() / "bodies"
    rows.write_text("".join(f"{i}\t\\\\x{text.encode().hex()}\n" for i, text in enumerate(texts, 1)))
    run(["psql", *bench.postgres.address, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c",
         f"\\copy bodies from '{rows}'", "document"])
    return pgbench(bench.postgres, "document", "webhook.sql", clients, seconds, {"issues": len(texts)})


def measure(bench):
    texts = bodies()
    best, rates = best_client_count(lambda n, s: document(bench, texts, n, s), CLIENTS, min(3, bench.seconds))

    def ours():
        bench.postgres.fresh_database("tenure")
        folder = bench.new_folder()
        with serve(bench, folder) as server:
            return wrk_server(server, "webhook.lua", CONNECTIONS, bench.seconds, [signed_file(folder, texts)], 1,
                              [bench.postgres.process])

    figure = Figure(NAME, f"webhook of 10 KB to 3 bots, signed, {CONNECTIONS} connections",
                    f"the same rows one by one, pgbench, {best} clients", "/s", GOAL, ">=")
    in_turns(figure, bench.repeat, ours, lambda: document(bench, texts, best, bench.seconds))
    figure.notes["pgbench by clients"] = rates
    return [figure]
