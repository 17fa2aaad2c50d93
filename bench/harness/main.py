"""The command: prepares, runs the chosen rows, prints the table, writes the JSON."""

import argparse
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import figures, machine, messages
from .process import Failed, run
from .servers import Postgres

ROOT = Path(__file__).resolve().parent.parent.parent


class Bench:
    """What every row gets: options, the binary, a temporary folder, one PostgreSQL cluster."""

    def __init__(self, options, folder):
        self.root = ROOT
        self.folder = Path(folder)
        self.quick = options.quick
        self.big = options.big
        self.seconds = options.seconds or (3 if options.quick else 8)
        self.repeat = options.repeat or (1 if options.quick else 5)
        self.settings = options.set or []
        self.given_binary = options.tenure
        self._postgres = None
        self._folders = 0

    @property
    def tenure(self):
        return self.given_binary or ROOT / "build" / "release" / "src" / "app" / "tenure"

    def load_program(self, name):
        return ROOT / "build" / "bench" / name

    def new_folder(self):
        self._folders += 1
        folder = self.folder / str(self._folders)
        folder.mkdir()
        return folder

    @property
    def postgres(self):
        """One cluster for all rows, started by the first that needs it."""
        if not self._postgres:
            self._postgres = Postgres(self.new_folder())
        return self._postgres

    def say(self, text):
        print(f"  {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)

    def close(self):
        if self._postgres:
            self._postgres.stop()


def _parse():
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    parser.add_argument("--rows", default="*", metavar="PATTERN",
                        help="only rows whose name fits, such as 'sqlite-*' (several: a,b)")
    parser.add_argument("--repeat", type=int, metavar="N", help="times each figure is taken (5)")
    parser.add_argument("--seconds", type=int, metavar="S", help="length of one measurement (8)")
    parser.add_argument("--quick", action="store_true", help="once, 3 s each, small data: does it work?")
    parser.add_argument("--big", action="store_true", help="growth up to 10 million rows instead of 1")
    parser.add_argument("--list", action="store_true", help="names the rows and ends")
    parser.add_argument("--tenure", type=lambda path: Path(path).resolve(), metavar="BINARY",
                        help="measure this one; build nothing")
    parser.add_argument("--set", action="append", metavar="NAME=VALUE", help="a setting for every server")
    return parser.parse_args()


def _prepare(options, chosen):
    run([ROOT / "packaging" / "install-dependencies", "build", "bench"], timeout=1800)
    if any(row.NAME.startswith("messages-") for row in chosen):
        messages.install_peers()
    jobs = ["-j", str(os.cpu_count() or 2)]
    steps = [["cmake", "-S", ROOT / "bench" / "load", "-B", ROOT / "build" / "bench", "-G", "Ninja"],
             ["ninja", "-C", ROOT / "build" / "bench", *jobs]]
    if not options.tenure:
        steps += [["cmake", "--preset", "release"],
                  ["ninja", "-C", ROOT / "build" / "release", *jobs, "tenure"]]
    for step in steps:
        run(step, timeout=3600, cwd=ROOT)


def _selected(rows, patterns):
    wanted = patterns.split(",")
    return [row for row in rows if any(fnmatch.fnmatch(row.NAME, w) for w in wanted)]


def main():
    from rows import ROWS
    options = _parse()
    if options.list:
        for row in ROWS:
            print(f"{row.NAME:24} {(row.__doc__ or '').strip().splitlines()[0]}")
        return 0
    chosen = _selected(ROWS, options.rows)
    if not chosen:
        print(f"no row fits {options.rows}; see bench/run --list", file=sys.stderr)
        return 2
    try:
        _prepare(options, chosen)
    except (Failed, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return 1

    folder = tempfile.mkdtemp(prefix="tenure-bench-")
    bench = Bench(options, folder)
    taken, failures = [], []
    try:
        about = machine.describe(bench)
        for row in chosen:
            bench.say(row.NAME)
            try:
                taken += row.measure(bench)
            except (Failed, subprocess.TimeoutExpired, OSError) as error:
                failures.append((row.NAME, str(error)))
                bench.say(f"{row.NAME} FAILED: {error}")
    finally:
        bench.close()
        shutil.rmtree(folder, ignore_errors=True)

    about["machine"]["load_average_at_end"] = os.getloadavg()[0]
    _print(about, taken, failures)
    _write(about, taken, failures)
    return 1 if failures else 0


def _print(about, taken, failures):
    computer, settings = about["machine"], about["settings"]
    print(f"\n{computer['cpu']}, {computer['cores']} cores, {computer['memory_gib']} GiB, "
          f"Linux {computer['kernel']}, {computer['fdatasync_per_second']:,} fdatasync/s (p99 {computer['fdatasync_p99_ms']} ms), "
          f"load {computer['load_average_at_start']:.1f} at start, "
          f"{computer['load_average_at_end']:.1f} at end")
    print(", ".join(f"{name} {value}" for name, value in about["versions"].items()))
    for name, value in settings.items():
        text = ", ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else value
        print(f"  {name}: {text}")
    print("\n" + figures.table(taken, failures))
    for figure in taken:
        for remark in figures.remarks(figure):
            print(f"  {figure.row}: {remark}")


def _write(about, taken, failures):
    results = ROOT / "bench" / "results"
    results.mkdir(exist_ok=True)
    path = results / (time.strftime("%Y%m%d-%H%M%S") + ".json")
    path.write_text(json.dumps(
        {**about, "figures": [f.as_json() for f in taken],
         "failures": [{"row": row, "reason": reason} for row, reason in failures]}, indent=1) + "\n")
    print(f"\n{path.relative_to(ROOT)}")
