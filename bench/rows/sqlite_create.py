"""PUT /sessions of new random keys on SQLite, against nginx `return 200` of the same size."""

from harness.clients import wrk_server, wrk_tenure
from harness.figures import Figure, in_turns
from harness.servers import Nginx, Tenure, put

NAME = "sqlite-create"
CONNECTIONS = 64
BODY = ('{"userObjectId":"6f9619ff-8b86-4011-b42d-00c04fc964ff",'
        '"tenantObjectId":"11111111-1111-4111-8111-000000000001",'
        '"capacityId":"22222222-2222-4222-8222-000000000001","sessionKind":1}')


def measure(bench):
    with Tenure(bench, bench.new_folder()) as tenure:
        answer = put("127.0.0.1", tenure.port, BODY)
    figure = Figure(NAME, f"PUT create, SQLite, {CONNECTIONS} connections", "nginx return 200", "/s",
                    0.35, ">=")

    def ours():
        with Tenure(bench, bench.new_folder()) as fresh:
            return wrk_tenure(fresh, 201, "put_create.lua", CONNECTIONS, bench.seconds)

    with Nginx(bench.new_folder(), len(answer), len(answer.partition(b"\r\n\r\n")[2])) as nginx:
        return [in_turns(
            figure, bench.repeat, ours,
            lambda: wrk_server(nginx, "put_create.lua", CONNECTIONS, bench.seconds))]
