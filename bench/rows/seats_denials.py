"""Seats: denials of a full licence, against PUT /sessions that exist on the same server."""

from harness.clients import load, wrk_server, wrk_tenure
from harness.figures import Figure, in_turns
from harness.process import Failed
from harness.seats import CONNECTIONS, Client, keys_file, make_licenses, serve

NAME = "seats-denials"
DENIALS = r'license_acquire_failures_total\{reason="full"\}'
KEYS = 10_000


def measure(bench):
    figures = []
    for engine in ("SQLite", "PostgreSQL"):
        store, also = None, ()
        if engine == "PostgreSQL":
            bench.postgres.fresh_database("tenure")
            store, also = bench.postgres.url("tenure"), [bench.postgres.process]
        with serve(bench, store) as server:
            licenses = make_licenses(server, 1, 1)
            Client(server).call("POST", "/acquire", {"license_key": licenses[0][1], "machine_id": "holder"})
            keys, sessions = keys_file(bench, licenses), bench.new_folder() / "bodies"
            load(bench, "fill", port=server.port, count=KEYS, connections=CONNECTIONS)
            load(bench, "bodies", count=KEYS, file=sessions)
            figure = Figure(NAME, f"denial of a full licence, {engine}, {CONNECTIONS} connections",
                            "PUT /sessions existing", "/s", 1, ">=")

            def denials():
                before = server.metric(DENIALS)
                result = wrk_server(server, "seats_denied.lua", CONNECTIONS, bench.seconds, [keys], 1, also)
                if server.metric(DENIALS) - before < result["requests"]:
                    raise Failed("not every request was denied")
                return result

            in_turns(figure, bench.repeat, denials,
                     lambda: wrk_tenure(server, 200, "put_existing.lua", CONNECTIONS, bench.seconds, [sessions],
                                        also=also))
            figures.append(figure)
    return figures
