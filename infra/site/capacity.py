"""Writes docs/capacity.md: the design's targets, each beside the figure that was measured.

The figures are read out of the pages that the benchmarks wrote: none is typed here.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from infra.dev.paths import ROOT

PAGE = "docs/capacity.md"
PATH, PORTAL = "docs/performance.md", "docs/performance-portal.md"
DAY = 24 * 3600
TEMPLATE = Path(__file__).with_suffix(".md")
_NUMBER = re.compile(r"[\d,]*\.?\d+")


@dataclass(frozen=True, slots=True)
class Target:
    name: str
    wanted: str
    limit: float
    measured: float
    words: str
    where: str
    at_most: bool = True

    @property
    def met(self) -> bool:
        return self.measured <= self.limit if self.at_most else self.measured >= self.limit


@cache
def _page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def rows(page: str, *begins: str) -> list[list[str]]:
    """Return the cells of those lines of tables whose first cells are `begins`; of the last one its
    beginning is enough."""
    lines = (line.strip("| ").split(" | ") for line in _page(page).splitlines() if line[:1] == "|")
    *whole, last = begins
    return [
        cells
        for cells in lines
        if cells[: len(whole)] == whole and cells[len(whole)].startswith(last)
    ]


def _row(page: str, *begins: str) -> list[str]:
    (found,) = rows(page, *begins)
    return found


def _number(text: str, after: str = "") -> float:
    """Return the first number behind these words."""
    match = _NUMBER.search(text, text.index(after) + len(after))
    assert match is not None
    return float(match[0].replace(",", ""))


def targets() -> list[Target]:
    busy = _row(PATH, "Gatepost", "64")
    accepted, delivered, p95 = (_number(busy[n]) for n in (2, 3, 6))
    way = _row(PATH, "post → delivered at 100/s")[1]
    pages = [_number(cells[4]) for cells in _in_chromium()]
    crowd = _number(_row(PORTAL, "a crowd", "all at the same moment")[5])
    path, portal = "[performance](performance.md)", "[the portal](performance-portal.md)"
    both = f"p95 {p95:g} ms for the whole answer, at 64 connections"
    write = _number(_row(PATH, "a commit in the ledger, at 64 connections")[1], "within")
    return [
        Target(
            "messages a day",
            "100,000",
            100_000,
            delivered * DAY,
            f"{delivered:,.0f} delivered a second, which is {delivered * DAY / 1e6:,.0f} million",
            path,
            at_most=False,
        ),
        Target("time to accept", "p95 < 100 ms", 100, p95, both, path),
        Target(
            "messages a second",
            "> 50",
            50,
            accepted,
            f"{accepted:,.0f} accepted, one in each request",
            path,
            at_most=False,
        ),
        Target(
            "database write",
            "p95 < 50 ms",
            50,
            write,
            f"p95 {write:g} ms at most, the call of the main server included, at 64 connections",
            path,
        ),
        Target(
            "delivery",
            "< 60 s",
            60_000,
            _number(way, "p99"),
            f"p95 {_number(way, 'p95'):g} ms, p99 {_number(way, 'p99'):g} ms from the post on",
            path,
        ),
        Target(
            "portal",
            "< 2 s",
            2000,
            max(*pages, crowd),
            f"whole pages in a browser: p95 {max(pages):g} ms at most; a hundred people at the same"
            f" moment: {crowd:g} ms",
            portal,
        ),
    ]


def _in_chromium() -> Iterator[list[str]]:
    """Yield the rows of whole pages: they have five cells, and an address for the second."""
    for line in _page(PORTAL).splitlines():
        cells = line.strip("| ").split(" | ")
        if len(cells) == 5 and cells[1].startswith("`/"):
            yield cells


def _costs() -> dict[str, float]:
    (line,) = [one for one in _page(PATH).splitlines() if one.startswith("CPU for each message")]
    return {name: float(us) for name, us in re.findall(r"(\w+) ([\d.]+) µs", line)}


def _memory() -> tuple[int, int]:
    """Return what Redis may hold, and what its unit may take, in GiB."""
    found = (
        re.search(r"^maxmemory (\d+)gb$", _page("infra/redis.conf"), re.M),
        re.search(r"^MemoryMax=(\d+)G$", _page("systemd/gatepost-redis.service"), re.M),
    )
    holds, takes = (int(one[1]) for one in found if one)
    return holds, takes


def pages() -> Mapping[str, str]:
    (machine,) = [one for one in _page(PATH).splitlines() if one.startswith("- 20")]
    lines = (f"| {one.name} | {one.wanted} | {one.words} | {one.where} |" for one in targets())
    costs, (holds, takes) = _costs(), _memory()
    bytes_each = _number(_page("docs/performance-queue.md"), "messages took")
    text = TEMPLATE.read_text(encoding="utf-8").format(
        machine=machine.removeprefix("- "),
        targets="\n".join(lines) + "\n",
        costs=", ".join(f"{name.replace('_', ' ')} {us:g} µs" for name, us in costs.items()),
        proxy_core=_a_core(costs["proxy"]),
        main_core=_a_core(costs["main_server"]),
        redis_core=_a_core(costs["redis"]),
        redis_bytes=f"{bytes_each:g}",
        redis_holds=holds,
        redis_takes=takes,
        redis_messages=holds * 2**30 / bytes_each / 1e6,
        backlog=int(_number(_row(PATH, "a backlog of ")[1])),
        half=int(_number(_row(PATH, "Gatepost", "64")[2]) // 2),
    )
    return {PAGE: text}


def _a_core(microseconds: float) -> int:
    """Return how many messages a second fill a core, in hundreds."""
    return int(round(1e6 / microseconds, -2))
