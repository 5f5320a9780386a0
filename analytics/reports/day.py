"""The reports of a day, and the part of the lake that each is made of.

They are functions of that part and of nothing else, so two runs report the same (I13).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from analytics.reports.attempts import ATTEMPT_TIMES, ATTEMPTS, attempt_times, attempts
from analytics.reports.hours import (
    DELIVERY_TIMES,
    FAILURES,
    HOURS,
    Report,
    delivery_times,
    failures,
    hours,
)
from analytics.reports.senders import UNIQUE_SENDERS, unique_senders
from analytics.reports.waits import QUEUE_TIMES, queue_times


@dataclass(frozen=True, slots=True)
class DayRows:
    """The rows that the lake has of a day."""

    messages: DataFrame
    attempts: DataFrame
    senders: DataFrame

    def count_beside(self) -> dict[str, int]:
        return {"attempts": self.attempts.count(), "senders": self.senders.count()}


Make = Callable[[DayRows], DataFrame]

REPORTS: tuple[tuple[Report, Make], ...] = (
    (HOURS, lambda day: hours(day.messages)),
    (FAILURES, lambda day: failures(day.messages)),
    (DELIVERY_TIMES, lambda day: delivery_times(day.messages)),
    (ATTEMPTS, lambda day: attempts(day.messages)),
    (ATTEMPT_TIMES, lambda day: attempt_times(day.attempts)),
    (QUEUE_TIMES, lambda day: queue_times(day.messages, day.attempts)),
    (UNIQUE_SENDERS, lambda day: unique_senders(day.senders)),
)


def all_reports(day: DayRows) -> DataFrame:
    """Make all reports in one frame, told apart by `report`, so that Spark makes them side by side
    and writes them at once. Columns that a report doesn't have are empty."""
    frames = [make(day).withColumn("report", f.lit(report.name)) for report, make in REPORTS]
    return reduce(partial(DataFrame.unionByName, allowMissingColumns=True), frames)
