"""A ledger of a million messages is backed up while messages come, tried, lost, and restored onto
empty servers. With `write` the figures go into docs/backup.md: none gets there in another way.
"""

import json
import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import SecretStr

from bench.nights.ledger import fill
from bench.people.population import divide_past
from bench.rig import pages
from bench.rig.machine import noise
from infra.dev.place import Place
from infra.dev.ports import free_base
from infra.dev.stack import Stack
from main_server.settings import Database
from main_server.store.database import open_ledger
from tests.acceptance.lost_machine import Operator, lose, restore, url_of
from tests.acceptance.site import Site, Traffic

ROWS = 1_000_000
DAYS = range(5, 15)
"""How many days ago they came: so long that none of them waits."""
SENDERS, WAITING = 4, 20
ALONE_SECONDS = 10.0
MOST_SECONDS = 600.0
PAGE = pages.DOCS / "backup.md"
HEADING = "## What it took\n"
Say = Callable[[str], None]


def play(say: Say, asked: Namespace) -> list[str]:
    """What went wrong."""
    before = noise()
    with TemporaryDirectory(prefix="gatepost-drill-") as name:
        Path(name).chmod(0o711)  # MariaDB may run as somebody else
        found = _play(say, Path(name), int(ROWS * asked.scale))
    text = _render(found, before)
    print(text)
    if asked.write:
        kept, _, _ = PAGE.read_text().partition(HEADING)
        PAGE.write_text(kept.rstrip("\n") + f"\n\n{text}")
    wrong: list[str] = found["strange"]
    slow = [name for name in ("drill", "restore") if found[name] > MOST_SECONDS]
    return wrong + [f"{name} took {found[name]:.0f} s" for name in slow]


def _play(say: Say, folder: Path, rows: int) -> dict[str, Any]:
    place, ports = Place(folder / "var"), free_base()
    operator = Operator(place, folder / "operator")
    with Stack(place.folder, ports) as stack:
        site = Site(stack)
        _fill(say, site, rows)
        operator.configure(partial(url_of, site))
        operator.grant()
        found = _back_up(say, site, operator)
        say("a drill …")
        found["drill"] = json.loads(operator.backup("drill", "--json"))["seconds"]
        operator("keys", "backup", str(operator.keys))
        waiting = lose(site, WAITING)
    say("the machine is lost; a restore …")
    restored = restore(place, operator, folder)
    begun = time.monotonic()
    with Stack(place.folder, ports) as stack:
        site = Site(stack)
        site.wait_delivered(*found["before"], *waiting, seconds=60)
        found["back"] = time.monotonic() - begun
        site.engine.dispose()
    return found | {"restore": restored["seconds"], "messages": restored["messages"]}


def _fill(say: Say, site: Site, rows: int) -> None:
    today = datetime.now(UTC).date()
    days = {today - timedelta(days=n): rows // len(DAYS) for n in DAYS}
    with open_ledger(Database(url=SecretStr(site.status["database"])), patient=True) as engine:
        divide_past(engine, [today - timedelta(days=n) for n in range(1, max(DAYS) + 1)])
        fill(engine, days, say)


def _back_up(say: Say, site: Site, operator: Operator) -> dict[str, Any]:
    """While messages come; and what was accepted before it began."""
    with Traffic(site, SENDERS) as traffic:
        traffic.flows()
        first, begun = len(traffic.promised), time.monotonic()
        time.sleep(ALONE_SECONDS)
        alone = (len(traffic.promised) - first) / (time.monotonic() - begun)
        say("a backup, while messages come …")
        before, begun = list(traffic.promised), time.monotonic()
        made = json.loads(operator.backup("create", "--json"))
        seconds = time.monotonic() - begun
        meanwhile = (len(traffic.promised) - len(before)) / seconds
    site.wait_delivered(*traffic.promised, seconds=60)
    said = {"before": before, "strange": traffic.strange[:3], "alone": alone}
    return said | {"meanwhile": meanwhile, "create": seconds, "bytes": made["bytes"]}


def _render(found: Mapping[str, Any], noise_before: dict[str, float]) -> str:
    rows = {
        f"made, {found['bytes'] / 2**20:,.0f} MiB": "create",
        "tried (`gatepost backup drill`)": "drill",
        "restored onto an empty database": "restore",
        f"servers started, and all delivered that Redis had ({WAITING} messages)": "back",
    }
    return "\n".join(
        [
            HEADING,
            "Written by `./dev drill operate backup --write`; all of it is of one run.",
            "",
            pages.whence(),
            f"- noise before the run: {pages.in_words(noise_before)}",
            f"- a ledger of {found['messages']:,} messages; {found['meanwhile']:.0f} a second were"
            f" accepted while the backup was made, {found['alone']:.0f} before",
            "",
            "| | |",
            "|---|---|",
            *(f"| {words} | {found[name]:.1f} s |" for words, name in rows.items()),
            "",
        ]
    )
