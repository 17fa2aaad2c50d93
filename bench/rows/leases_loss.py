"""A holder that cannot renew: how long after its local deadline the library tells it of the loss."""

import json

from harness.figures import Figure
from harness.process import run

NAME = "leases-loss"
LATE_MS = 20


def measure(bench):
    token = Figure(NAME, "stop token after the local deadline, p99", "the latest allowed", "ms", 1, "<=")
    event = Figure(NAME, "event Lost after the local deadline, p99", "the latest allowed", "ms", 1, "<=")
    for _ in range(bench.repeat):
        result = json.loads(run([bench.load_program("lease_loss"), "--leases", "200"]))
        for figure, key in ((token, "token"), (event, "event")):
            figure.ours.append(max(result[key]["p99_us"] / 1000, 0.001))
            figure.peer.append(LATE_MS)
            figure.notes[f"{key}, last run"] = result[key]
    return [token, event]
