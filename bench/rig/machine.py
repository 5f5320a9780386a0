"""What a figure depends on beside the program: the machine, and what else it does."""

import os
import platform
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def noise(seconds: float = 0.5) -> dict[str, float]:
    """How busy the machine is before a measurement, and how evenly a fixed work takes its time."""
    busy, total = _cpu_times()
    laps = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        started = time.perf_counter()
        sum(range(20_000))
        laps.append(time.perf_counter() - started)
    laps.sort()
    busy_after, total_after = _cpu_times()
    share = (busy_after - busy) / max(1, total_after - total) - 1 / (os.cpu_count() or 1)
    return {
        "others_busy": round(max(0.0, share), 2),
        "lap_spread": round(laps[int(len(laps) * 0.95)] / laps[len(laps) // 2], 2),
    }


def cpu_seconds(pids: dict[str, list[int]]) -> dict[str, float]:
    return {name: sum(_cpu_of(pid) for pid in group) for name, group in pids.items()}


def resident_bytes(pids: dict[str, list[int]]) -> dict[str, list[float]]:
    """MiB of each process of each service."""
    return {name: [_resident(pid) for pid in group] for name, group in pids.items()}


def age(pid: int) -> float:
    """Seconds since a process began."""
    ticks = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / TICKS


def describe() -> str:
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory = os.sysconf("SC_PHYS_PAGES") * PAGE / 2**30
    return f"{os.cpu_count()} × {model}, {memory:.0f} GiB, Python {platform.python_version()}"


def _cpu_times() -> tuple[int, int]:
    values = [int(v) for v in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return sum(values) - values[3] - values[4], sum(values)


def _cpu_of(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def _resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return round(pages * PAGE / 2**20, 1)
