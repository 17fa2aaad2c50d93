"""What messages-library and messages-http have in common: both rates beside those of three peers."""

import statistics

from harness.figures import Figure, spread
from harness.leases import Rounds
from harness.messages import PEER_NAMES, Peer

WORK = {"enqueue": "enqueue", "process": "claim + ack"}


def peers_in_turns(bench, ours):
    """`ours` by engine; the peers stand in the same rounds."""
    measures = dict(ours)
    for name in PEER_NAMES:
        measures[name] = lambda bench, name=name: Peer(bench, name).rates()
    return Rounds(bench, measures)


def figures_of(row, how, rounds, engines, goals):
    figures = []
    for mode, work in WORK.items():
        best = max(PEER_NAMES, key=lambda name: statistics.median(rounds.rates(name, mode)))
        for engine in engines:
            figure = Figure(row, f"{work}, {how}, {engine}, batches of 500", f"{best}, the best of three", "/s",
                            goals[mode], ">=", ours=rounds.rates(engine, mode), peer=rounds.rates(best, mode))
            # A peer's processing fills its queue within the same run: what that costs is not told apart.
            for whose, name in (("Tenure", engine), (best, best))[:2 if mode == "enqueue" else 1]:
                for side in ("server", "client"):
                    figure.cpu[f"{whose} {side} cpu us/message"] = [
                        result[mode][f"{side}_cpu_us"] for result in rounds.results[name]]
            figures.append(figure)
        figures[-1].notes[f"{work}, all peers"] = {
            name: f"{spread(rounds.rates(name, mode))} /s" for name in PEER_NAMES}
    figures[-1].notes["settings of the peers"] = {
        name: rounds.results[name][0]["process"]["settings"]
        + (f", {Peer.PROCESSES[name]} processes" if Peer.PROCESSES[name] > 1 else "") for name in PEER_NAMES}
    return figures
