"""Days make the month: what the reader adds up of the days' reports is what a report of all of them
at once says. Other messages each time; what fails tells its seed."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

from pyspark.sql import SparkSession
from sqlalchemy import Connection, insert

from analytics.reports.day import REPORTS, DayRows, all_reports
from gatepost.reports import repository as reports
from gatepost.reports.repository import Hours, Scope, Senders
from gatepost.reports.sketch import estimate
from main_server.store.database import transact
from main_server.store.tables import metadata
from tests.integration.analytics.conftest import Ledger
from tests.integration.analytics.days import SEVENTH, Attempt, Message, at
from tests.integration.analytics.frames import day_of

DAYS = [SEVENTH + timedelta(days=n) for n in range(4)]
MONTH = Scope(DAYS[0], DAYS[-1])
DISTRIBUTIONS = {
    "report_failures": (reports.failures, "reason"),
    "report_delivery_times": (reports.delivery_times, "bucket"),
    "report_attempts": (reports.attempts, "bucket"),
    "report_attempt_times": (reports.attempt_times, "bucket"),
}
WAITS = ("first", "again")
Row = Mapping[str, Any]
Expected = Mapping[str, Sequence[Row]]


def test_days_make_the_month(spark: SparkSession, ledger: Ledger) -> None:
    seed = random.randrange(2**32)
    messages, attempts = a_month(random.Random(seed))
    for day in DAYS:
        put(ledger, day, day_of(spark, *of(day, messages, attempts)))
    month = made(day_of(spark, messages, attempts))
    for by in (("domain", "client_id"), ("domain",), ("domain", "hour"), ()):
        transact(ledger.engine, partial(compare, month, by, seed))


def compare(month: Expected, by: tuple[str, ...], seed: int, connection: Connection) -> None:
    assert reports.hours(connection, MONTH, by) == hours_of(month["report_hours"], by), seed
    for table, (read, own) in DISTRIBUTIONS.items():
        found = read(connection, MONTH, by)
        assert found == distribution_of(month[table], by, own), (table, by, seed)
    for wait in WAITS:
        found = reports.queue_times(connection, MONTH, wait, by)
        rows = [row for row in month["report_queue_times"] if row["wait"] == wait]
        assert found == distribution_of(rows, by, "bucket"), (wait, by, seed)
    if "domain" in by and "hour" not in by:
        found_senders = reports.senders(connection, MONTH, by)
        assert found_senders == senders_of(month["report_senders"], by), (by, seed)


def a_month(chance: random.Random) -> tuple[list[Message], list[Attempt]]:
    """Of the second half of the days the MACs are under another key."""
    messages, attempts = [], []
    for _ in range(400):
        number = chance.randrange(len(DAYS))
        status = chance.choice(["delivered", "delivered", "failed", "queued"])
        one = Message(
            at(DAYS[number], chance.randrange(24), millis=chance.randrange(3_600_000)),
            status,
            client=f"client_{chance.randrange(3)}",
            domain=f"domain-{chance.randrange(2)}.example",
            reason=chance.choice(["refused", "expired"]) if status == "failed" else None,
            took_ms=int(2 ** chance.uniform(0, 20)),
            attempts=chance.choice([1, 1, 1, 2, 3]),
            sender=f"+1{chance.randrange(60)}",
            kid=bytes([1 + number // 2] * 8),
        )
        messages.append(one)
        begun = 0
        for attempt in range(1, one.attempts + 1 if one.attempts > 1 else 1):
            begun += chance.randrange(60_000)
            last = attempt == one.attempts
            outcome = status if last and status in ("delivered", "failed") else "retry"
            attempts.append(Attempt(one, attempt, begun, chance.randrange(9_000), outcome))
            begun += 9_000
    return messages, attempts


def of(
    day: date, messages: Sequence[Message], attempts: Sequence[Attempt]
) -> tuple[list[Message], list[Attempt]]:
    begin, end = at(day, 0), at(day + timedelta(days=1), 0)
    return (
        [one for one in messages if begin <= one.ms < end],
        [one for one in attempts if begin <= one.message.ms < end],
    )


def put(ledger: Ledger, day: date, rows: DayRows) -> None:
    """As the pipeline publishes them."""
    for table, found in made(rows).items():
        values = [{"day": day, **row} for row in found]
        transact(ledger.engine, partial(_insert, table, values))


def _insert(table: str, values: Sequence[Any], connection: Connection) -> None:
    connection.execute(insert(metadata.tables[table]), values)


def made(rows: DayRows) -> Expected:
    """What each table is to have."""
    found = all_reports(rows).collect()
    return {
        report.table: [
            {name: row[name] for name in (*report.keys, *report.values)}
            for row in found
            if row["report"] == report.name
        ]
        for report, _ in REPORTS
    }


def key_of(row: Row, by: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in by)


def hours_of(rows: Sequence[Row], by: Sequence[str]) -> dict[Any, Hours]:
    names = list(Hours.__slots__)
    found: dict[Any, list[int]] = defaultdict(lambda: [0] * len(names))
    for row in rows:
        before = found[key_of(row, by)]
        found[key_of(row, by)] = [a + row[name] for a, name in zip(before, names, strict=True)]
    return {key: Hours(*values) for key, values in found.items()}


def distribution_of(rows: Sequence[Row], by: Sequence[str], own: str) -> dict[Any, dict[Any, int]]:
    keys = {"hour", "domain", "client_id", "reason", "bucket", "wait"}
    found: dict[Any, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        found[key_of(row, by)][row[own]] += sum(row[n] for n in row if n not in keys)
    return {key: dict(counts) for key, counts in found.items()}


def senders_of(rows: Sequence[Row], by: Sequence[str]) -> dict[Any, Senders]:
    whole = "client_id" not in by
    found: dict[Any, list[int]] = defaultdict(list)
    for row in rows:
        if (row["client_id"] == "") == whole:
            found[key_of(row, by)].append(estimate(bytes(row["sketch"])))
    return {key: Senders(sum(each), len(each) > 1) for key, each in found.items()}
