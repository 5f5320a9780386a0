"""`./dev bench analytics`: what a night of the pipeline costs, with three million messages; with
`--large` (`./dev drill analytics` is that, and more) with thirty, ten of them on one day.

Pipeline and retention are run as an operator runs them. What is published is counted again by
DuckDB, from the same Parquet, and by MariaDB. With `--write`, the figures go into
docs/performance-analytics.md: no figure gets there in another way.
"""

import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import text

from analytics import submit
from bench.nights import page
from bench.nights.history import lengthen, shorten
from bench.nights.ledger import BigLedger, big_ledger
from bench.nights.oracles import compare
from bench.nights.retention import take_away
from bench.nights.runs import Night, configure, run
from bench.rig import pages
from bench.rig.machine import noise
from infra.dev.options import bench as options
from infra.dev.spark_cluster import SparkCluster

DAY = timedelta(days=1)
SIZES = {"bench": (1_000_000, 14, 143_000), "drill": (10_000_000, 20, 1_000_000)}
"""Messages of yesterday; how many days before it, and how many messages each of these has."""
NIGHTS_OF = "bench"
"""What nights cost with few and with many days in the lake is measured with this one alone: what is
in those days doesn't matter, and six nights of ten millions take long."""
SHORT, LONG = 10, 365
NIGHTS = 3
BYTES_A_MESSAGE = 900
"""On the disk at the worst: in the ledger with its indexes and logs, and in the lake."""
MAY_DIFFER = 0.10


def days_of(size: str, scale: float) -> dict[date, int]:
    yesterday = datetime.now(UTC).date() - DAY
    large, more, each = SIZES[size]
    before = {yesterday - DAY * n: int(each * scale) for n in range(1, more + 1)}
    return {yesterday: int(large * scale), **before}


def measure(rows: Mapping[date, int], folder: Path, *, nights: bool) -> dict[str, Any]:
    begun = time.monotonic()
    with big_ledger(folder / "mariadb", rows, say) as ledger:
        say(f"{ledger.total:,} messages made in {time.monotonic() - begun:.0f} s")
        found = _measure(ledger, folder)
        say("retention …")
        found["retention"] = take_away(ledger, folder)
        if nights:
            short = _nights_with(SHORT, ledger, folder)
            found["nights"] = {"short": short, "long": _nights_with(LONG, ledger, folder)}
        return found


def _measure(ledger: BigLedger, folder: Path) -> dict[str, Any]:
    lake, config = folder / "lake", configure(folder, ledger)
    say("the first night, with all of the days …")
    first = run(config, "run", "--catch-up")
    yesterday = max(ledger.rows)
    (largest,) = [one for one in first.days if one["day"] == str(yesterday)]
    say("counted again by DuckDB and by MariaDB …")
    agreement = asdict(compare(ledger.engine, lake, sorted(ledger.rows)))
    say(f"the reports of {yesterday} again, from the lake …")
    again = run(config, "rebuild", str(yesterday), str(yesterday))
    _seal(ledger, yesterday - DAY * 4)
    say("a night on a cluster …")
    cluster = _on_a_cluster(ledger, folder)
    return {
        "messages": ledger.total,
        "largest_day": largest["rows"],
        "first": first.figures(),
        "largest": largest,
        "rebuild_seconds": round(again.seconds, 1),
        "agreement": agreement,
        "cluster": cluster.figures(),
    }


def _nights_with(days: int, ledger: BigLedger, folder: Path) -> dict[str, Any]:
    """The few first: what is made longer has only grown, and leaves the ledger nothing to purge."""
    say(f"nights with {days} days in the lake …")
    if days > len(ledger.rows):
        lengthen(ledger.engine, folder / "lake", days)
    else:
        shorten(ledger.engine, folder / "lake", max(ledger.rows) - DAY * (days - 1))
    ledger.settle()
    return _nights(folder / "analytics.yaml")


def _seal(ledger: BigLedger, first: date) -> None:
    """All before this day, as the nights would have done that the days have had."""
    with ledger.engine.begin() as connection:
        connection.execute(
            text("UPDATE lake_manifest SET sealed_at = published_at WHERE day < :first"),
            {"first": first},
        )


def _on_a_cluster(ledger: BigLedger, folder: Path) -> Night:
    with SparkCluster(submit.spark_home(), folder / "cluster", memory="2g") as cluster:
        config = configure(folder, ledger, memory="1g", cluster=cluster)
        return run(config, cluster=cluster)


def _nights(config: Path) -> dict[str, Any]:
    """One before that finds nothing in memory isn't counted."""
    run(config)
    nights = [run(config) for _ in range(NIGHTS)]
    middle = sorted(nights, key=lambda one: one.seconds)[NIGHTS // 2]
    each = [round(one.seconds, 1) for one in nights]
    return middle.figures() | {"each": each, "median": statistics.median(each)}


def missed(results: Mapping[str, Any]) -> str | None:
    """What isn't as promised."""
    said = list(results["agreement"]["differences"])
    if "nights" in results:
        short, long = (results["nights"][name]["median"] for name in ("short", "long"))
        if abs(long - short) > MAY_DIFFER * short:
            said.append(f"a night: {short} s with {SHORT} days in the lake, {long} s with {LONG}")
    return "\n".join(said) or None


def bench(size: str, scale: float, *, write: bool) -> str | None:
    """What was missed."""
    rows, before = days_of(size, scale), noise()
    _demand_room(sum(rows.values()))
    with tempfile.TemporaryDirectory(prefix="gatepost-bench-") as name:
        Path(name).chmod(0o711)  # MariaDB may run as somebody else
        results = measure(rows, Path(name), nights=size == NIGHTS_OF)
    results |= {"noise": before, "whence": pages.whence()}
    every = _kept() | {size: results}
    text_ = page.render(every)
    print(text_)
    pages.keep("analytics", every, text_, write=write)
    return missed(results)


def _kept() -> dict[str, Any]:
    """What this checkout has measured before, of the other size."""
    file = pages.RESULTS / "analytics.json"
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return found


def _demand_room(messages: int) -> None:
    wanted, free = messages * BYTES_A_MESSAGE, shutil.disk_usage(tempfile.gettempdir()).free
    if free < wanted:
        sys.exit(f"{tempfile.gettempdir()} has {free / 1e9:.0f} GB, {wanted / 1e9:.0f} are needed.")


def say(words: str) -> None:
    print(f"  {words}", flush=True)


def main() -> None:
    arguments = options.analytics().parse_args()
    size = "drill" if arguments.large else "bench"
    if wrong := bench(size, arguments.scale, write=arguments.write):
        sys.exit(wrong)


if __name__ == "__main__":
    main()
