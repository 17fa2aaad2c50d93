"""Figures: repeated measurements of us and of a peer, and what they say about a goal."""

import statistics
from dataclasses import dataclass, field


@dataclass
class Figure:
    """One line of the table. `ours` and `peer` hold one number per repetition, taken in turns."""

    row: str
    what: str
    against: str
    unit: str
    goal: float | None  # none: it is only reported, and has no peer
    sense: str  # ">=" or "<=", of the ratio ours : peer
    ours: list = field(default_factory=list)
    peer: list = field(default_factory=list)
    notes: dict = field(default_factory=dict)
    cpu: dict = field(default_factory=dict)

    @property
    def ratio(self):
        if self.goal is None:
            return None
        return statistics.median(self.ours) / statistics.median(self.peer)

    @property
    def ratios(self):
        return [a / b for a, b in zip(self.ours, self.peer)]

    @property
    def met(self):
        if self.goal is None:
            return None
        return self.ratio >= self.goal if self.sense == ">=" else self.ratio <= self.goal

    def as_json(self):
        return {
            "row": self.row, "what": self.what, "against": self.against, "unit": self.unit,
            "ours": self.ours, "peer": self.peer, "ratio": None if self.goal is None else round(self.ratio, 3),
            "goal": None if self.goal is None else f"{self.sense} {self.goal}", "met": self.met,
            "notes": self.notes, "cpu": self.cpu,
        }


def in_turns(figure, repeat, ours, peer):
    """Measures both `repeat` times, each time one after the other, so that a change of the machine's
    mood meets both."""
    for i in range(repeat):
        first, second = (ours, peer) if i % 2 == 0 else (peer, ours)
        for measure in (first, second):
            _take(figure, measure is ours, measure())
    return figure


def _take(figure, is_ours, result):
    """A result is a number, or a dictionary with a rate and what a request cost in processor time."""
    numbers = figure.ours if is_ours else figure.peer
    if not isinstance(result, dict):
        numbers.append(result)
        return
    numbers.append(result["rate"])
    if "server_cpu_us" in result:
        whose = "Tenure" if is_ours else "peer"
        figure.cpu.setdefault(f"{whose} cpu us/request", []).append(result["server_cpu_us"])
        figure.cpu.setdefault(f"client cpu us/request against {whose}", []).append(result["client_cpu_us"])


def short(number):
    if number >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3g}" if number < 10 else f"{number:.0f}"


def spread(numbers):
    """Median, and the least and the most when there is more than one."""
    middle = short(statistics.median(numbers))
    if len(numbers) == 1:
        return middle
    return f"{middle} ({short(min(numbers))}..{short(max(numbers))})"


def ratio_text(figure):
    """Of the medians, which decides; in brackets the least and the most of the pairs."""
    if len(figure.ours) != len(figure.peer) or len(figure.ours) == 1:
        return short(figure.ratio)
    return f"{short(figure.ratio)} ({short(min(figure.ratios))}..{short(max(figure.ratios))})"


def remarks(figure):
    """What stands below the table about one figure."""
    yield from (f"{name}: {value}" for name, value in figure.notes.items())
    if figure.cpu:
        yield ", ".join(f"{name} {spread(numbers)}" for name, numbers in figure.cpu.items())


def _judged(figure):
    """The last columns: against what, and whether the goal is met."""
    if figure.goal is None:
        return [figure.against, "", "", "", "reported"]
    return [figure.against, f"{spread(figure.peer)} {figure.unit}", ratio_text(figure),
            f"{figure.sense} {figure.goal:g}", "met" if figure.met else "MISSED"]


def table(figures, failures):
    head = ["row", "work", "Tenure", "against", "peer", "ratio", "goal", ""]
    lines = [[f.row, f.what, f"{spread(f.ours)} {f.unit}", *_judged(f)] for f in figures]
    lines += [[row, "FAILED: " + reason.splitlines()[0][:100], "", "", "", "", "", ""]
              for row, reason in failures]
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    def text(cells):
        return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths)).rstrip() + " |"
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return "\n".join([text(head), rule, *map(text, lines)])
