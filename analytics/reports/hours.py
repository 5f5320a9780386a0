"""The reports of how many messages there were, and what became of them; and what a report is.

There are only numbers that can be added up: so a day is the sum of its hours, a month that of its
days, and no day has to be read again for it. The hour is that of the time in the id, in UTC.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from analytics.reports.times import bucket

KEYS = ("hour", "domain", "client_id")


@dataclass(frozen=True, slots=True)
class Report:
    """A table of the ledger, and the columns of the day's rows in it."""

    table: str
    keys: Sequence[str]
    values: Sequence[str]

    @property
    def name(self) -> str:
        """The name of its files in the lake."""
        return self.table.removeprefix("report_")


STATUSES = {
    "delivered": "delivered",
    "failed": "failed",
    "erased": "erased",
    "duplicates": "duplicate",
    "waiting": "queued",
}
"""The reports' names for the messages in each status of the ledger. There are no others."""

HOURS = Report("report_hours", KEYS, ("accepted", *STATUSES, "retries"))
FAILURES = Report("report_failures", (*KEYS, "reason"), ("failed",))
DELIVERY_TIMES = Report("report_delivery_times", (*KEYS, "bucket"), ("delivered",))


def hours(messages: DataFrame) -> DataFrame:
    """Count the accepted messages, what became of them, and how often delivery was tried again."""
    return (
        with_hour(messages)
        .groupBy(*KEYS)
        .agg(
            f.count("*").alias("accepted"),
            *(_count_of(status).alias(name) for name, status in STATUSES.items()),
            f.sum(f.greatest(f.col("attempt_count") - 1, f.lit(0))).alias("retries"),
        )
        .select(*HOURS.keys, *HOURS.values)
    )


def failures(messages: DataFrame) -> DataFrame:
    """Count the failed messages by the reason."""
    return (
        with_hour(messages.where(f.col("status") == "failed"))
        .withColumn("reason", f.coalesce("reason", f.lit("unknown")))
        .groupBy(*FAILURES.keys)
        .agg(f.count("*").alias("failed"))
        .select(*FAILURES.keys, *FAILURES.values)
    )


def delivery_times(messages: DataFrame) -> DataFrame:
    """Count the delivered messages by how long delivery took from the acceptance on."""
    took = f.unix_millis("delivered_at") - f.unix_millis("queued_at")
    return (
        with_hour(messages.where(f.col("status") == "delivered"))
        .withColumn("bucket", bucket(took))
        .groupBy(*DELIVERY_TIMES.keys)
        .agg(f.count("*").alias("delivered"))
        .select(*DELIVERY_TIMES.keys, *DELIVERY_TIMES.values)
    )


def with_hour(rows: DataFrame) -> DataFrame:
    accepted_ms = f.conv(f.hex(f.substring("message_id", 1, 6)), 16, 10).cast("long")
    hour = f.pmod(f.floor(accepted_ms / f.lit(3_600_000)), f.lit(24)).cast("int")
    return rows.withColumn("hour", hour)


def _count_of(status: str) -> Column:
    return f.count_if(f.col("status") == status)
