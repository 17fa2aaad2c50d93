"""PUT /sessions of existing sessions on SQLite, against nginx `return 200` of the same size."""

from harness.clients import load, wrk_server, wrk_tenure
from harness.figures import Figure, in_turns
from harness.servers import Nginx, Tenure, put

NAME = "sqlite-existing"
CONNECTIONS = 64
KEYS = 10_000


def measure(bench):
    folder = bench.new_folder()
    keys = folder / "keys"
    with Tenure(bench, folder) as tenure:
        load(bench, "fill", port=tenure.port, count=KEYS, connections=CONNECTIONS)
        load(bench, "bodies", count=KEYS, file=keys)
        answer = put("127.0.0.1", tenure.port, keys.read_text().splitlines()[0])
        body = answer.partition(b"\r\n\r\n")[2]
        with Nginx(folder, len(answer), len(body)) as nginx:
            figure = Figure(NAME, f"PUT existing, SQLite, {CONNECTIONS} connections",
                            "nginx return 200", "/s", 0.7, ">=")
            figure.notes["answer"] = f"{len(answer)} bytes"
            return [in_turns(
                figure, bench.repeat,
                lambda: wrk_tenure(tenure, 200, "put_existing.lua", CONNECTIONS, bench.seconds,
                                   [keys]),
                lambda: wrk_server(nginx, "put_existing.lua", CONNECTIONS, bench.seconds,
                                 [keys]))]
