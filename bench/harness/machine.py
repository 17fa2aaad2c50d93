"""What the figures were taken on."""

import os
import platform
import re
import time
from pathlib import Path

from .messages import peer_versions
from .peers import ETCD_SETTINGS, REDIS_SETTINGS
from .process import run
from .servers import NGINX_SETTINGS, POSTGRES_BIN, POSTGRES_SETTINGS


def _cpu():
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return found.group(1) if found else platform.processor()


def _version(argv, pattern=r"[\d.]+\S*"):
    try:
        import subprocess
        done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=10)
        return re.search(pattern, done.stdout + done.stderr).group(0)
    except (OSError, AttributeError):
        return "?"


def _fdatasync(folder, seconds=2.0):
    """Of one appended page, the ground under every durable figure: how many a second, and the slowest of a hundred."""
    path = Path(folder) / "fsync.probe"
    times, page = [], b"x" * 4096
    fd = os.open(path, os.O_CREAT | os.O_WRONLY)
    end = time.monotonic() + seconds
    while (begun := time.monotonic()) < end:
        os.write(fd, page)
        os.fdatasync(fd)
        times.append(time.monotonic() - begun)
    os.close(fd)
    path.unlink()
    return {"fdatasync_per_second": round(len(times) / sum(times)),
            "fdatasync_p99_ms": round(1000 * sorted(times)[len(times) * 99 // 100], 2)}


def describe(bench):
    memory = re.search(r"MemTotal: +(\d+)", Path("/proc/meminfo").read_text()).group(1)
    return {
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "memory_gib": round(int(memory) / 1024 / 1024, 1),
            "kernel": platform.release(),
            **_fdatasync(bench.folder),
            "load_average_at_start": os.getloadavg()[0],
        },
        "versions": {
            "tenure": _version([bench.tenure, "--version"]),
            "commit": run(["git", "-C", bench.root, "describe", "--always", "--dirty"],
                          check=False).strip(),
            "sqlite": __import__("sqlite3").sqlite_version,
            "postgres": _version([POSTGRES_BIN / "postgres", "--version"]),
            "nginx": _version(["nginx", "-v"]),
            "wrk": _version(["wrk", "-v"], r"wrk \S+"),
            "etcd": _version(["etcd", "--version"]),
            "redis": _version(["redis-server", "--version"], r"(?<=v=)[\d.]+"),
            "node": _version(["node", "--version"]),
            **peer_versions(),
        },
        "settings": {
            "tenure": list(bench.settings) or "defaults",
            "sqlite": "WAL, synchronous=FULL",
            "postgres": POSTGRES_SETTINGS,
            "nginx": NGINX_SETTINGS,
            "etcd": ETCD_SETTINGS,
            "redis": REDIS_SETTINGS,
            "wrk": "1 thread",
            "pgbench": "-M prepared, TCP, 2 threads",
            "seconds": bench.seconds,
            "repeat": bench.repeat,
        },
    }
