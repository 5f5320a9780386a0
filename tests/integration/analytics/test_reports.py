"""The reports on small frames: what is counted, and how."""

from datetime import date
from math import floor, log2

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from analytics.reports.attempts import attempt_times, attempts
from analytics.reports.day import REPORTS
from analytics.reports.hours import delivery_times, failures, hours
from analytics.reports.senders import unique_senders
from analytics.reports.times import bucket
from analytics.reports.waits import queue_times
from gatepost.reports.sketch import REGISTERS, estimate, merge
from gatepost.reports.times import A_DOUBLING, attempts_of, milliseconds_of, quantile
from tests.integration.analytics.days import SEVENTH, Attempt, Message, at
from tests.integration.analytics.frames import day_of, frame, noted, registers, rows

CLOCKS_GO_BACK = date(2026, 10, 25)
"""In Europe: 02:30 is there twice. In UTC it isn't."""


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


def test_a_night_when_clocks_go_back_has_24_hours(spark: SparkSession) -> None:
    sent = [Message(at(CLOCKS_GO_BACK, hour, 30)) for hour in range(24)]
    assert [row[0] for row in rows(hours(frame(spark, *sent)))] == list(range(24))


def test_a_client_with_half_of_all_changes_nothing_for_the_others(spark: SparkSession) -> None:
    large = [Message(at(SEVENTH, millis=n), client="large") for n in range(200)]
    others = [Message(at(SEVENTH, millis=n), client=f"c{n}", took_ms=n) for n in range(200)]
    of_all, of_others = day_of(spark, large + others), day_of(spark, others)
    for report, make in REPORTS:
        theirs = f.expr("client_id NOT IN ('', 'example.com:large')")
        assert rows(make(of_all).where(theirs)) == rows(make(of_others).where(theirs)), report
    accepted = {row[2]: row[3] for row in rows(hours(of_all.messages))}
    assert accepted.pop("example.com:large") == 200
    assert [*accepted.values()] == [1] * 200


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


def test_attempts_are_counted_of_what_has_ended(spark: SparkSession) -> None:
    sent = [
        Message(at(SEVENTH)),
        Message(at(SEVENTH)),
        Message(at(SEVENTH), attempts=3),
        Message(at(SEVENTH), "failed", attempts=3, reason="refused"),
        Message(at(SEVENTH), "failed", attempts=0, reason="expired"),
        Message(at(SEVENTH), "failed", attempts=10_000, reason="attempts_used"),
        Message(at(SEVENTH), "queued", attempts=7),
        Message(at(SEVENTH), "erased", attempts=1),
    ]
    found = {attempts_of(row[3]): row[4:] for row in rows(attempts(frame(spark, *sent)))}
    assert found == {0: (0, 1), 1: (2, 0), 3: (1, 1), 9741: (0, 1)}


def test_attempts_took_what_the_worker_measured(spark: SparkSession) -> None:
    """Of a delivery nobody has, so it isn't there."""
    one = Message(at(SEVENTH, 9))
    noted_of = [
        Attempt(one, 1, 50, took_ms=20),
        Attempt(one, 2, 30_100, took_ms=5_000),
        Attempt(one, 3, 60_200, took_ms=5_000, outcome="failed"),
        Attempt(one, 4, 99_000, took_ms=0, outcome="delivered"),
    ]
    found = rows(attempt_times(noted(spark, *noted_of)))
    assert [(row[0], round(milliseconds_of(row[3]), -1), *row[4:]) for row in found] == [
        (9, 20, 1, 0),
        (9, 5090, 1, 1),
    ]


def test_waits_are_for_the_first_attempt_and_for_each_other(spark: SparkSession) -> None:
    at_once = Message(at(SEVENTH), took_ms=7)
    later = Message(at(SEVENTH), attempts=3, took_ms=90_000)
    late_success = Message(at(SEVENTH), attempts=1, took_ms=40_000)
    again = Message(at(SEVENTH), attempts=5, generation=1)
    noted_of = [
        Attempt(later, 1, 1_000, took_ms=500),
        Attempt(later, 2, 31_500, took_ms=500),
        Attempt(later, 3, 62_000, took_ms=0, outcome="delivered"),
        Attempt(late_success, 1, 3_000, took_ms=10, outcome="failed"),
        Attempt(again, 3, 8_000, outcome="failed"),
        Attempt(again, 4, 500_000),
        # The fifth is one that nobody has noted.
        Attempt(again, 6, 900_000),
    ]
    untold = [
        Message(at(SEVENTH), "failed", attempts=0, reason="expired"),
        Message(at(SEVENTH), attempts=1, generation=1, took_ms=86_000_000),
        Message(at(SEVENTH), attempts=2),  # what was noted of the first was lost
    ]
    messages = frame(spark, at_once, later, late_success, again, *untold)
    found = {
        (row[3], round(milliseconds_of(row[4]))): row[5]
        for row in rows(queue_times(messages, noted(spark, *noted_of)))
    }
    assert found == {
        ("first", near(7)): 1,
        ("first", near(1_000)): 1,
        ("first", near(3_000)): 1,
        ("again", near(30_000)): 2,
    }


def near(milliseconds: int) -> int:
    """What a time is taken for."""
    return round(milliseconds_of(floor(log2(milliseconds + 1) * A_DOUBLING)))


def test_senders_are_counted_once_by_client_and_in_the_domain(spark: SparkSession) -> None:
    sent = [
        *(Message(at(SEVENTH, n), client="a", sender=f"+1{n}") for n in range(8)),
        *(Message(at(SEVENTH, n), client="a", sender=f"+1{n}") for n in range(8)),
        *(Message(at(SEVENTH, n), client="b", sender=f"+1{n}") for n in range(4, 12)),
        Message(at(SEVENTH), client="b", sender=None, status="duplicate"),
        Message(at(SEVENTH), domain="other.example", sender="+11"),
    ]
    found = rows(unique_senders(registers(spark, *sent)))
    assert [(row[0], row[1], estimate(bytes(row[3]))) for row in found] == [
        ("example.com", "", 12),
        ("example.com", "example.com:a", 8),
        ("example.com", "example.com:b", 8),
        ("other.example", "", 1),
        ("other.example", "other.example:client_001", 1),
    ]


def test_those_under_two_keys_have_two_sketches(spark: SparkSession) -> None:
    sent = [Message(at(SEVENTH, hour), kid=bytes([hour] * 8)) for hour in (1, 2)]
    found = rows(unique_senders(registers(spark, *sent)))
    assert [bytes(row[2])[0] for row in found if row[1] == ""] == [1, 2]


@pytest.mark.parametrize("many", [1, 1365, 1366, 20_000])
def test_a_sketch_is_what_its_registers_are_in_either_form(spark: SparkSession, many: int) -> None:
    """Of few registers it is a list of them, of many it has them all; the last ones are in it."""
    kept = spark.range(many).select(
        f.lit("c").alias("client_id"),
        f.lit("d").alias("domain"),
        f.lit(b"k" * 8).alias("hmac_kid"),
        (f.lit(REGISTERS - 1) - f.pmod("id", f.lit(REGISTERS))).cast("int").alias("register"),
        (f.pmod("id", f.lit(48)) + 1).cast("int").alias("rank"),
    )
    expected = bytearray(REGISTERS)
    for n in range(many):
        register = REGISTERS - 1 - n % REGISTERS
        expected[register] = max(expected[register], n % 48 + 1)
    (whole, _) = unique_senders(kept).orderBy("client_id").collect()
    assert len(whole["sketch"]) == (3 * many if many < 1366 else REGISTERS)
    assert merge([bytes(whole["sketch"])]) == bytes(expected)


def test_of_nothing_there_is_nothing_to_report(spark: SparkSession) -> None:
    nothing = day_of(spark, [])
    for report, make in REPORTS:
        found = make(nothing)
        assert found.columns == [*report.keys, *report.values]
        assert rows(found) == []
    assert quantile({}, 0.5) is None
