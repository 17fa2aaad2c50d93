"""Child processes: each is started here, writes to a log file, and is stopped by its own pid."""

import os
import signal
import subprocess
import time
from pathlib import Path


class Failed(Exception):
    """A row cannot be measured, or what was measured is not what it should have been."""


class Process:
    """A server that runs in the background until `stop`."""

    def __init__(self, name, argv, folder, user=None, cpus=None, env=None):
        self.name = name
        self.log = Path(folder) / f"{name}.log"
        if cpus is not None:
            argv = ["taskset", "-c", str(cpus), *argv]
        with open(self.log, "wb") as log:
            self._child = subprocess.Popen(
                [str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=folder, env={**_environment(), **(env or {})}, **as_user(user))

    @property
    def pid(self):
        return self._child.pid

    def text(self):
        return self.log.read_text(errors="replace")

    def wait_until(self, ready, seconds=20):
        """Polls `ready` until it returns something; fails when the process ends before that."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._child.poll() is not None:
                raise Failed(f"{self.name} ended at once:\n{self.text()[-2000:]}")
            found = ready()
            if found:
                return found
            time.sleep(0.02)
        raise Failed(f"{self.name} was not ready after {seconds} s:\n{self.text()[-2000:]}")

    def stop(self, with_signal=signal.SIGTERM, seconds=30):
        if self._child.poll() is not None:
            return
        self._child.send_signal(with_signal)
        try:
            self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def status_kib(self, field):
        """A field of /proc/PID/status such as VmRSS."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
        return 0

    def cpu_seconds(self):
        """Processor time of the process and its children, living and ended."""
        return sum(_cpu_seconds(pid) for pid in [self.pid, *_children(self.pid)])


def _environment():
    """Ours, without the settings of Tenure: a server that is measured has those that its row gives it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TENURE_")}


def _children(pid):
    """All below it. Some may end while we look: their parent has their time then."""
    try:
        direct = [int(child) for task in Path(f"/proc/{pid}/task").iterdir()
                  for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [below for child in direct for below in (child, *_children(child))]


def _cpu_seconds(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def as_user(user):
    """What Popen needs to run a child as somebody else; nothing when that is us already."""
    if user is None:
        return {}
    return {"user": user, "group": user, "extra_groups": []}


def run(argv, user=None, timeout=600, check=True, **more):
    """Runs a program to its end and returns its standard output."""
    done = subprocess.run([str(a) for a in argv], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=timeout, **as_user(user), **more)
    if check and done.returncode != 0:
        raise Failed(f"{' '.join(str(a) for a in argv)}\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    return done.stdout
