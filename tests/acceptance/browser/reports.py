"""Two months of reports of a domain, as the nightly pipeline leaves them; made up, by a seed."""

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Engine, delete, insert

from gatepost.insight.figures import COUNTS, EVERY, Figures, Spread, Tries, together
from main_server.store.tables import metadata

DAYS = 60
CLIENTS = (("harbour-office", 60), ("pilot-office", 25), ("tugs", 6))
WEEK = (1.0, 1.1, 1.05, 1.0, 0.9, 0.3, 0.2)
TIMES = ((40, 5), (48, 20), (52, 40), (56, 60), (60, 40), (64, 20), (70, 8), (80, 3), (120, 1))


def publish(engine: Engine, domain: str) -> None:
    """However often it is asked for."""
    chance, today = random.Random(7), datetime.now(UTC).date()
    days = [today - timedelta(days=n) for n in range(DAYS, 0, -1)]
    rows = [row for day in days for row in _rows(chance, domain, day)]
    with engine.begin() as connection:
        for name in ("report_days", "report_anomalies", "report_attainment", "report_forecasts"):
            table = metadata.tables[name]
            connection.execute(delete(table).where(table.c.domain.in_((domain, EVERY))))
        manifest = metadata.tables["lake_manifest"]
        connection.execute(delete(manifest).where(manifest.c.day.in_(days)))
        connection.execute(insert(manifest), [_manifest(day) for day in days])
        connection.execute(insert(metadata.tables["report_days"]), rows)
        for name, row in _conclusions(domain, days[-1]):
            connection.execute(insert(metadata.tables[name]), row)


def _rows(chance: random.Random, domain: str, day: date) -> Iterator[dict[str, Any]]:
    own = {f"{domain}:{name}": _figures(chance, day, scale) for name, scale in CLIENTS}
    whole = together(own.values())
    for client, figures in own.items():
        yield _row(domain, client, day, figures)
    yield _row(domain, EVERY, day, whole)
    yield _row(EVERY, EVERY, day, whole)


def _figures(chance: random.Random, day: date, scale: int) -> Figures:
    hours = {}
    for hour in range(24):
        busy = (2.0 if 8 <= hour <= 18 else 0.4) * WEEK[day.weekday()]
        accepted = int(scale * busy * chance.uniform(0.8, 1.2))
        failed = int(accepted * chance.uniform(0, 0.04))
        hours[hour] = [accepted, accepted - failed, failed]
    accepted, delivered, failed = (sum(counts[n] for counts in hours.values()) for n in range(3))
    whole = sum(share for _, share in TIMES)
    times = {bucket: delivered * share // whole for bucket, share in TIMES}
    reasons = {"expired": failed // 2, "refused": failed - failed // 2}
    again = failed + delivered // 20
    tries = Tries(
        first=times,
        again={118: again, 121: again // 9},
        delivered={8: delivered - delivered // 20, 12: delivered // 20},
        failed={8: failed // 2, 27: failed - failed // 2},
        took={60: again, 106: again // 3},
    )
    spread = Spread(hours, reasons, times, tries)
    return Figures(accepted, delivered, failed, retries=again, spread=spread)


def _row(domain: str, client: str, day: date, figures: Figures) -> dict[str, Any]:
    counts = {name: getattr(figures, name) for name in COUNTS}
    spread = msgspec.json.encode(figures.spread).decode()
    key = {"domain": domain, "day": day, "client_id": client}
    return key | counts | {"p95_ms": figures.p95_ms, "spread": spread}


def _manifest(day: date) -> dict[str, Any]:
    at = datetime(day.year, day.month, day.day, 2) + timedelta(days=1)
    times = {"first_published_at": at, "published_at": at, "sealed_at": None}
    counts = {"row_count": 0, "id_xor": 0, "late_changes": 0, "schema_version": 1}
    return {"day": day, "run_id": "r", **times, **counts}


def _conclusions(domain: str, day: date) -> Iterator[tuple[str, dict[str, Any]]]:
    client = f"{domain}:tugs"
    odd = {"value": 3, "usual": 160, "spread": 12, "score": -13, "measure": "accepted"}
    words = f"client {client} sent 3 messages on a Tuesday, where 160 ± 12 are usual"
    key = {"day": day, "domain": domain}
    yield "report_anomalies", {**key, "client_id": client, **odd, "words": words}
    kept = {"objective": "delivery", "target_ms": 60_000, "share": 0.99, "good": 95, "total": 100}
    for one in (domain, EVERY):
        yield "report_attainment", {"day": day, "domain": one, **kept}
    words = "About 2,000 messages on an average day now; in four weeks 2,100 (1,900 to 2,300)."
    yield "report_forecasts", {**key, "target": "volume", "at_present": 2000, "words": words}
