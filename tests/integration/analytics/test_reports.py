"""The reports on small frames: what is counted, and that days make the month."""

from datetime import date, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from analytics.reports.hours import (
    DELIVERY_TIMES,
    FAILURES,
    HOURS,
    REPORTS,
    delivery_times,
    failures,
    hours,
    roll_up,
)
from analytics.reports.times import bucket, milliseconds_of, quantile
from analytics.schema import COLUMNS, SCHEMAS, VERSION
from tests.integration.analytics.days import SEVENTH, Message, at

DAY = timedelta(days=1)


def frame(session: SparkSession, *messages: Message) -> DataFrame:
    rows = [tuple(one.row().get(name) for name in COLUMNS) for one in messages]
    return session.createDataFrame(rows, SCHEMAS[VERSION])


def rows(report: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in report.collect())


def test_hours_are_those_of_the_acceptance_in_utc(spark: SparkSession) -> None:
    sent = [
        Message(at(SEVENTH, 0)),
        Message(at(SEVENTH, 0, 59, 59_999), "failed", reason="refused", attempts=4),
        Message(at(SEVENTH, 1), "queued", attempts=0),
        Message(at(SEVENTH, 23, 59), "duplicate", client="b"),
        Message(at(SEVENTH, 23), "erased", client="b"),
    ]
    assert rows(hours(frame(spark, *sent))) == [
        (0, "example.com", "example.com:client_001", 2, 1, 1, 0, 0, 0, 3),
        (1, "example.com", "example.com:client_001", 1, 0, 0, 0, 0, 1, 0),
        (23, "example.com", "example.com:b", 2, 0, 0, 1, 1, 0, 0),
    ]


def test_failures_are_by_reason_and_one_without_is_unknown(spark: SparkSession) -> None:
    sent = [Message(at(SEVENTH), "failed", reason=why) for why in ("refused", "refused", None)]
    found = rows(failures(frame(spark, *sent, Message(at(SEVENTH)))))
    assert [(row[3], row[4]) for row in found] == [("refused", 2), ("unknown", 1)]


def test_times_are_from_the_acceptance_to_the_delivery(spark: SparkSession) -> None:
    times = [1, 90, 90, 61_000, -40]
    sent = [Message(at(SEVENTH), took_ms=took) for took in times]
    found = rows(delivery_times(frame(spark, *sent, Message(at(SEVENTH), "failed"))))
    counts = {row[3]: row[4] for row in found}
    assert sum(counts.values()) == len(times)
    for took in (1, 90, 61_000):
        near = min(counts, key=lambda number: abs(milliseconds_of(number) - took))
        assert milliseconds_of(near) == pytest.approx(took, rel=0.045, abs=1)
    assert quantile(counts, 0.99) == pytest.approx(61_000, rel=0.045)


def test_a_quantile_is_within_its_error_of_the_true_one(spark: SparkSession) -> None:
    """Against Spark's own exact one, over times from nothing to four days."""
    took = f.round(f.pow(f.lit(2.0), f.col("id") / 20_000 * 28)).cast("long")
    times = spark.range(20_000).select(took.alias("took"))
    found = times.groupBy(bucket(f.col("took"))).count().collect()
    counts = {row[0]: row[1] for row in found}
    shares = [0.01, 0.5, 0.95, 0.99]
    exact = times.select(f.percentile("took", f.lit(shares))).collect()[0][0]
    for share, true in zip(shares, exact, strict=True):
        assert quantile(counts, share) == pytest.approx(true, rel=0.045, abs=1)


@pytest.mark.parametrize(("report", "make"), REPORTS, ids=lambda one: getattr(one, "table", ""))
def test_days_make_the_month(spark: SparkSession, report: Any, make: Any) -> None:
    """However the month is divided, the sum of its parts is the whole."""
    sent = [
        Message(
            at(SEVENTH + DAY * (n % 5), n % 24),
            ("delivered", "failed", "queued")[n % 3],
            client=f"client_{n % 4}",
            domain=f"domain-{n % 2}.example",
            reason="refused" if n % 3 == 1 else None,
            took_ms=n * n,
            attempts=n % 7,
        )
        for n in range(300)
    ]
    keys = [key for key in report.keys if key != "hour"]
    whole = roll_up(make(frame(spark, *sent)), keys, report.values)
    days: dict[date, list[Message]] = {}
    for n, one in enumerate(sent):
        days.setdefault(SEVENTH + DAY * (n % 5), []).append(one)
    parts = [make(frame(spark, *part)) for part in days.values()]
    together = parts[0]
    for part in parts[1:]:
        together = together.unionByName(part)
    assert rows(roll_up(together, keys, report.values)) == rows(whole)
    in_two_steps = roll_up(roll_up(together, report.keys, report.values), keys, report.values)
    assert rows(in_two_steps) == rows(whole)


def test_of_nothing_there_is_nothing_to_report(spark: SparkSession) -> None:
    nothing = frame(spark)
    for report, make in REPORTS:
        found = make(nothing)
        assert found.columns == [*report.keys, *report.values]
        assert rows(found) == []
    assert {one.table for one in (HOURS, FAILURES, DELIVERY_TIMES)} == {r.table for r, _ in REPORTS}
    assert quantile({}, 0.5) is None
